// Tests which elements of a value ranks have, and the checksum of their shares.
#include "runtime/io/checksum.h"
#include "runtime/state/division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace mtc::runtime;
using testing::Each;

namespace {

/// Expects that the shares of a division contain each element of the value once.
void expectAllElementsOnce(const Division &division) {
  std::vector<int> seen(static_cast<size_t>(division.total));
  for (int64_t share = 0; share < division.shares(); ++share) {
    int64_t next = 0, count = 0; // among the elements of the share
    auto check = [&](const ElementRun &each) {
      EXPECT_GE(each.own, next);
      EXPECT_EQ(each.part, share / division.parts * division.piece + each.own);
      if (division.padding() == 0)
        EXPECT_EQ(each.own, next);
      next = each.own + each.count;
      count += each.count;
      for (int64_t i = 0; i < each.count; ++i) {
        EXPECT_EQ(division.shareOfElement(each.value + i), share);
        ++seen[static_cast<size_t>(each.value + i)];
      }
    };
    division.forEachRun(share, 0, division.countOf(share), check);
    EXPECT_LE(next, division.countOf(share));
    if (division.padding() == 0)
      EXPECT_EQ(count, division.countOf(share));
    EXPECT_EQ(share < division.ownedShares(), division.countOf(share) > 0);
    EXPECT_EQ(division.shareOf(division.ownerOf(share)), share);
    next = 0;
    division.forEachRunWithin(share, 0, division.total, check);
  }
  EXPECT_THAT(seen, Each(2)) << division.total << " in " << division.parts << " parts of runs of "
                             << division.run << ", in blocks of " << division.block
                             << " and pieces of " << division.piece;
}

TEST(DivisionTest, CoversEachElementOnce) {
  for (const int64_t run : {1, 3, 5})
    for (const int64_t parts : {1, 2, 4})
      for (const int64_t padding : {0, 1, 2, 3})
        for (const int64_t outer : {1, 3})
          for (const int64_t piece : {1, 2, 5, 60})
            for (const int64_t stride : {1, 2}) {
              const int64_t block = run * parts - padding;
              if (block < 1)
                continue;
              const int64_t pieces = (run * outer + piece - 1) / piece + 1;
              expectAllElementsOnce(
                  {run, parts, stride, piece, pieces, stride * parts, block * outer, block});
            }
}

TEST(PieceChecksumTest, IsOfThePiecesChecksums) {
  std::string bytes(1000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * i);
  auto sumOf = [&](int64_t from, int64_t to) {
    Checksum sum;
    sum.add(bytes.data() + from, to - from);
    return sum.value();
  };
  PieceChecksum undivided;
  undivided.add(bytes.data(), 300);
  undivided.add(bytes.data() + 300, 700);
  EXPECT_EQ(undivided.value(), sumOf(0, 1000));
  for (const int64_t piece : {7, 256, 500, 1000, 2000}) {
    PieceChecksum byPiece({.bytes = piece});
    for (int64_t at = 0; at < 1000; at += piece)
      byPiece.addPiece(sumOf(at, std::min<int64_t>(1000, at + piece)));
    for (const int64_t step : {1, 13, 256, 1000}) {
      PieceChecksum sum({.bytes = piece});
      sum.add(bytes.data(), 10);
      sum.restart();
      for (int64_t at = 0; at < 1000; at += step)
        sum.add(bytes.data() + at, std::min(step, 1000 - at));
      EXPECT_EQ(sum.value(), byPiece.value()) << piece << " in steps of " << step;
    }
  }
}

TEST(PieceChecksumTest, OfPartsWithSeveralPieces) {
  const std::string bytes = "0123456789ab";
  std::array<Checksum, 2> parts;
  for (size_t at = 0; at < bytes.size(); at += 3)
    parts[at / 3 % 2].add(bytes.data() + at, 3);
  PieceChecksum byPart({.bytes = 3});
  for (const Checksum &part : parts)
    byPart.addPiece(part.value());
  PieceChecksum sum({.bytes = 3, .parts = 2});
  sum.add(bytes.data(), 1);
  sum.restart();
  sum.add(bytes.data(), 4);
  sum.add(bytes.data() + 4, 8);
  EXPECT_EQ(sum.value(), byPart.value());
}

TEST(PieceChecksumTest, OfPartsInShares) {
  // Pieces of 3 bytes belong to 2 parts in turn, which consist of shares of 4 and 2 bytes.
  const std::string bytes = "0123456789ab", shares[] = {"0126", "3459", "78", "ab"};
  PieceChecksum byShare({.bytes = 3});
  for (const std::string &share : shares) {
    Checksum sum;
    sum.add(share.data(), std::ssize(share));
    byShare.addPiece(sum.value());
  }
  for (const int64_t step : {1, 5, 12}) {
    PieceChecksum sum({.bytes = 3, .parts = 2, .bytesOfShare = 4});
    for (int64_t at = 0; at < 12; at += step)
      sum.add(bytes.data() + at, std::min<int64_t>(step, 12 - at));
    EXPECT_EQ(sum.value(), byShare.value());
  }
}

TEST(PieceChecksumTest, SkipsPaddingAfterBlocks) {
  // Pieces of 3 bytes belong to 2 parts in turn. The last byte of each piece of part 1 is padding,
  // which counts for its shares of 4 and 2 bytes.
  const std::string bytes = "0123456789", shares[] = {"0125", "348", "67", "9"};
  PieceChecksum byShare({.bytes = 3});
  for (const std::string &share : shares) {
    Checksum sum;
    sum.add(share.data(), std::ssize(share));
    byShare.addPiece(sum.value());
  }
  for (const int64_t step : {1, 3, 10}) {
    PieceChecksum sum({.bytes = 3, .parts = 2, .bytesOfShare = 4, .bytesOfBlock = 5});
    for (int64_t at = 0; at < 10; at += step)
      sum.add(bytes.data() + at, std::min<int64_t>(step, 10 - at));
    EXPECT_EQ(sum.value(), byShare.value());
  }
}

} // namespace

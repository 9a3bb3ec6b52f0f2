#include "runtime/collectives/transfer.h"
#include "test/runtime/collectives/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

/// Tests the exchange of values that are sharded among ranks.
struct Values {
  std::vector<int64_t> totals, pieces; ///< elements of each value, and of its piece
  int64_t elementBytes = 4;

  size_t count() const { return totals.size(); }
  size_t bytes(size_t i) const { return static_cast<size_t>(totals[i] * elementBytes); }
  size_t pieceBytes(size_t i) const { return static_cast<size_t>(pieces[i] * elementBytes); }
  size_t rowBytes() const {
    size_t sum = 0;
    for (size_t i = 0; i < count(); ++i)
      sum += pieceBytes(i);
    return sum;
  }
};

/// A collective with the memory of one rank.
class Collective {
public:
  /// `groups` has the number and the stride of the ranks of a group; 0 ranks: all of them.
  Collective(MtcCollectiveKind kind, const Values &divided, Ranks &ranks,
             std::pair<int64_t, int64_t> groups = {0, 1})
      : divided(divided), kind(kind), table{kind,
                                            static_cast<uint32_t>(divided.count()),
                                            groups.first ? groups.first : ranks.count(),
                                            groups.second,
                                            divided.elementBytes,
                                            this->divided.pieces.data(),
                                            this->divided.totals.data()} {
    for (size_t i = 0; i < divided.count(); ++i) {
      values.emplace_back(divided.bytes(i), poison);
      pieces.emplace_back(divided.pieceBytes(i), poison);
    }
    if (kind == MTC_ALL_TO_ALL)
      rows.assign(divided.rowBytes() * static_cast<size_t>(table.ranks), poison);
    MtcProgram program{};
    program.ranks = ranks.count();
    program.collectives = &table;
    MtcOperation operation{};
    operation.nodes = "backward(fc)";
    std::vector<char *> operands;
    auto add = [&](std::vector<std::string> &memory) {
      for (std::string &each : memory)
        operands.push_back(each.data());
    };
    if (kind == MTC_ALL_GATHER)
      add(pieces);
    add(values);
    if (kind == MTC_ALL_TO_ALL)
      operands.push_back(rows.data());
    if (kind == MTC_OWN_PIECE)
      add(pieces);
    transfer.emplace(program, operation, operands, ranks);
  }

  void setValues(int64_t rank, int64_t run);
  void run() {
    transfer->start();
    transfer->wait();
  }

  const Values divided;
  const MtcCollectiveKind kind;
  std::string rows; ///< received by an all-to-all
  std::vector<std::string> values, pieces;
  const MtcCollective table;
  std::optional<Transfer> transfer;
};

/// Returns the bytes of a value, which differ by rank, run, value and position.
std::string bytesOf(const Values &divided, size_t value, int64_t rank, int64_t run) {
  std::string result(divided.bytes(value), '\0');
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<char>(i * 131 + i / 251 + value * 7 +
                                  static_cast<size_t>(rank * 17 + run * 59));
  return result;
}

void Collective::setValues(int64_t rank, int64_t run) {
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(values[i].data(), bytesOf(divided, i, rank, run).data(), values[i].size());
}

/// Returns the part of a value that a rank owns.
std::string pieceOf(const std::string &whole, size_t pieceBytes, int rank) {
  const size_t begin = static_cast<size_t>(rank) * pieceBytes;
  return begin < whole.size() ? whole.substr(begin, pieceBytes) : "";
}

/// Returns the part of a value that a rank owns, padded with zeros to the size of a shard.
std::string paddedPieceOf(const std::string &whole, size_t pieceBytes, int rank) {
  std::string piece = pieceOf(whole, pieceBytes, rank);
  piece.resize(pieceBytes, '\0');
  return piece;
}

/// Values that `ranks` ranks can shard: even shards, uneven and empty ones, several values, and
/// elements of two bytes.
std::vector<Values> valuesFor(int ranks) {
  auto divide = [&](std::vector<int64_t> totals, int64_t unit, int64_t elementBytes = 4) {
    Values values{std::move(totals), {}, elementBytes};
    for (const int64_t total : values.totals)
      values.pieces.push_back((total + ranks * unit - 1) / (ranks * unit) * unit);
    return values;
  };
  return {divide({16 * ranks}, 16),
          divide({100, 36, 1, 700}, 16),
          divide({5}, 16),
          divide({130, 3}, 32, 2),
          {{40}, {64}},
          divide({1, 1, 1, 60}, 1)};
}

class TransferTest : public testing::TestWithParam<int> {};

constexpr int64_t runs = 3;

TEST_P(TransferTest, AllToAllSendsEachPieceToItsOwner) {
  for (const Values &divided : valuesFor(GetParam())) {
    const auto results = runRanks(GetParam(), [&](Ranks &ranks) {
      Collective collective(MTC_ALL_TO_ALL, divided, ranks);
      for (int64_t run = 0; run < runs; ++run) {
        collective.setValues(ranks.rank(), run);
        collective.run();
        std::string rows;
        for (int other = 0; other < ranks.count(); ++other)
          for (size_t i = 0; i < divided.count(); ++i)
            rows +=
                paddedPieceOf(bytesOf(divided, i, other, run), divided.pieceBytes(i), ranks.rank());
        EXPECT_TRUE(collective.rows == rows) << "rank " << ranks.rank() << " run " << run;
        for (size_t i = 0; i < divided.count(); ++i)
          EXPECT_TRUE(collective.values[i] == bytesOf(divided, i, ranks.rank(), run));
      }
    });
    for (const RankResult &result : results)
      EXPECT_EQ(result.error, "");
  }
}

TEST_P(TransferTest, AllGatherCollectsThePiecesOfAllOwners) {
  for (const Values &divided : valuesFor(GetParam())) {
    const auto results = runRanks(GetParam(), [&](Ranks &ranks) {
      Collective collective(MTC_ALL_GATHER, divided, ranks);
      for (int64_t run = 0; run < runs; ++run) {
        std::vector<std::string> whole, own;
        for (size_t i = 0; i < divided.count(); ++i) {
          whole.push_back(bytesOf(divided, i, 0, run));
          own.push_back(pieceOf(whole[i], divided.pieceBytes(i), ranks.rank()));
          std::memcpy(collective.pieces[i].data(), own[i].data(), own[i].size());
        }
        collective.transfer->start();
        // `progress` alone can complete a transfer. The time limit ends a failing test. It is long
        // because a busy machine needs seconds.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
        while (collective.values != whole && std::chrono::steady_clock::now() < end) {
          collective.transfer->progress();
          std::this_thread::yield();
        }
        EXPECT_TRUE(collective.values == whole) << "rank " << ranks.rank() << " run " << run;
        collective.transfer->wait();
        EXPECT_TRUE(collective.values == whole) << "rank " << ranks.rank() << " run " << run;
        for (size_t i = 0; i < divided.count(); ++i) {
          const std::string &piece = collective.pieces[i];
          EXPECT_EQ(piece.substr(0, own[i].size()), own[i]);
          // Elements after the end of the value are not sent, and do not change.
          EXPECT_EQ(piece.find_first_not_of(poison, own[i].size()), std::string::npos);
        }
      }
    });
    for (const RankResult &result : results)
      EXPECT_EQ(result.error, "");
  }
}

TEST_P(TransferTest, OwnPieceCopiesWithinTheRank) {
  for (const Values &divided : valuesFor(GetParam()))
    runRanks(GetParam(), [&](Ranks &ranks) {
      if (ranks.rank() == ranks.count() - 1 && ranks.count() > 1)
        return; // No rank waits for another one.
      Collective collective(MTC_OWN_PIECE, divided, ranks);
      collective.setValues(ranks.rank(), 0);
      collective.run();
      for (size_t i = 0; i < divided.count(); ++i)
        EXPECT_TRUE(collective.pieces[i] == paddedPieceOf(bytesOf(divided, i, ranks.rank(), 0),
                                                          divided.pieceBytes(i), ranks.rank()));
      EXPECT_EQ(ranks.sentBytes(MTC_OWN_PIECE), 0);
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, TransferTest, testing::Range(1, 8));

/// Each case divides the ranks 0 to 11 into groups with a number and a stride of ranks.
class TransferOfGroups : public testing::TestWithParam<std::pair<int64_t, int64_t>> {};

TEST_P(TransferOfGroups, StaysWithinThem) {
  const auto [count, stride] = GetParam();
  const auto sizes = static_cast<int>(count);
  for (const Values &divided : valuesFor(sizes)) {
    const auto results = runRanks(12, [&, count = count, stride = stride](Ranks &ranks) {
      const int number = ranks.rank() / static_cast<int>(stride) % sizes;
      const int first = ranks.rank() - number * static_cast<int>(stride);
      Collective exchange(MTC_ALL_TO_ALL, divided, ranks, GetParam());
      Collective gather(MTC_ALL_GATHER, divided, ranks, GetParam());
      Collective own(MTC_OWN_PIECE, divided, ranks, GetParam());
      exchange.setValues(ranks.rank(), 0);
      own.setValues(ranks.rank(), 0);
      int64_t sent = 0;
      for (size_t i = 0; i < divided.count(); ++i) {
        const std::string piece =
            pieceOf(bytesOf(divided, i, first, 0), divided.pieceBytes(i), number);
        std::memcpy(gather.pieces[i].data(), piece.data(), piece.size());
        sent += static_cast<int64_t>(piece.size()) * (count - 1);
      }
      exchange.run();
      gather.run();
      own.run();
      std::string rows;
      for (int other = 0; other < sizes; ++other)
        for (size_t i = 0; i < divided.count(); ++i)
          rows += paddedPieceOf(bytesOf(divided, i, first + other * stride, 0),
                                divided.pieceBytes(i), number);
      EXPECT_TRUE(exchange.rows == rows) << "rank " << ranks.rank();
      for (size_t i = 0; i < divided.count(); ++i) {
        EXPECT_TRUE(gather.values[i] == bytesOf(divided, i, first, 0)) << "rank " << ranks.rank();
        EXPECT_TRUE(own.pieces[i] == paddedPieceOf(bytesOf(divided, i, ranks.rank(), 0),
                                                   divided.pieceBytes(i), number));
      }
      EXPECT_EQ(ranks.sentBytes(MTC_ALL_GATHER), sent);
    });
    for (const RankResult &result : results)
      EXPECT_EQ(result.error, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, TransferOfGroups,
                         testing::Values(std::pair(4, 1), std::pair(3, 4), std::pair(2, 6),
                                         std::pair(3, 2), std::pair(12, 1), std::pair(1, 1)));

TEST(Transfer, OfNoElementsToSomeRanksWaitsForTheOthers) {
  // Of 3 ranks, rank 0 owns 16 elements, rank 1 owns 4 elements, and rank 2 owns none.
  const Values divided{{20}, {16}};
  runRanks(3, [&](Ranks &ranks) {
    Collective collective(MTC_ALL_TO_ALL, divided, ranks);
    collective.setValues(ranks.rank(), 0);
    collective.run();
    if (ranks.rank() == 2)
      EXPECT_EQ(collective.rows, std::string(3 * 64, '\0'));
    if (ranks.rank() == 1)
      EXPECT_EQ(collective.rows.substr(128, 64),
                bytesOf(divided, 0, 2, 0).substr(64) + std::string(48, '\0'));
  });
}

TEST(Transfer, CountsTheBytesThatAreSentToOtherRanks) {
  const Values divided{{20}, {16}}; // shards of 64, 16 and 0 bytes
  const std::vector<int64_t> toOwners{16, 64, 80}, toAll{2 * 64, 2 * 16, 0};
  runRanks(3, [&](Ranks &ranks) {
    Collective exchange(MTC_ALL_TO_ALL, divided, ranks), gather(MTC_ALL_GATHER, divided, ranks);
    EXPECT_EQ(ranks.sentBytes(MTC_ALL_TO_ALL), 0) << "nothing was started";
    for (int64_t run = 1; run <= runs; ++run) {
      exchange.run();
      gather.run();
      const auto rank = static_cast<size_t>(ranks.rank());
      EXPECT_EQ(ranks.sentBytes(MTC_ALL_TO_ALL), run * toOwners[rank]);
      EXPECT_EQ(ranks.sentBytes(MTC_ALL_GATHER), run * toAll[rank]);
    }
  });
  runRanks(1, [&](Ranks &ranks) {
    Collective alone(MTC_ALL_GATHER, {{7, 9}, {16, 16}}, ranks);
    alone.run();
    EXPECT_EQ(ranks.sentBytes(MTC_ALL_GATHER), 0);
  });
}

TEST(Transfer, OfSeveralExchangesDoesNotMixTheirMessages) {
  runRanks(2, [&](Ranks &ranks) {
    const Values divided{{32}, {16}};
    Collective first(MTC_ALL_TO_ALL, divided, ranks), second(MTC_ALL_TO_ALL, divided, ranks);
    first.setValues(ranks.rank(), 0);
    second.setValues(ranks.rank(), 1);
    first.transfer->start();
    second.transfer->start();
    second.transfer->wait();
    first.transfer->wait();
    for (int64_t run = 0; run < 2; ++run)
      EXPECT_TRUE((run ? second : first).rows ==
                  pieceOf(bytesOf(divided, 0, 0, run), 64, ranks.rank()) +
                      pieceOf(bytesOf(divided, 0, 1, run), 64, ranks.rank()));
  });
}

TEST(Transfer, OfASilentRankIsNamedWithStepAndOperation) {
  testing::internal::CaptureStderr();
  const auto results = runRanks(
      3,
      [&](Ranks &ranks) {
        Collective collective(MTC_ALL_TO_ALL, {{48}, {16}}, ranks);
        ranks.setStep(671);
        if (ranks.rank() == 1)
          return; // Its peers wait for it.
        collective.transfer->start();
        collective.transfer->wait();
      },
      /*timeout=*/0.3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(results[0].abortedWith, 2);
  EXPECT_EQ(results[1].abortedWith, -1);
  EXPECT_EQ(results[2].abortedWith, 2);
  for (const char *rank : {"0", "2"})
    EXPECT_THAT(said, testing::ContainsRegex(
                          std::string("error: rank ") + rank +
                          " \\(host .+\\): no answer for 0\\.3 s from rank 1 \\(host [^,]+\\) in "
                          "step 671: all_to_all of backward\\(fc\\); all ranks end\\. --timeout "
                          "sets the limit\n"));
}

} // namespace

#include "runtime/collectives/to_leader.h"

#include "runtime/support/failure.h"
#include "test/runtime/collectives/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ContainsRegex;

namespace {

constexpr int64_t chunk = ToLeader::maxChunkBytes;

/// Returns a value that differs by rank, seed and position.
std::string valueOf(int rank, int64_t seed, int64_t bytes) {
  std::string value(static_cast<size_t>(bytes), '\0');
  for (size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<char>(static_cast<size_t>(rank * 17 + seed * 59) + i * 131 + i / 251);
  return value;
}

/// Moves a value of the calling rank, in ranges of at most `part` bytes, to a string of rank 0.
std::string moved(ToLeader &toLeader, int from, const std::string &own, int64_t bytes,
                  int64_t part) {
  std::string received;
  toLeader.move(
      from, bytes,
      [&](int64_t begin, int64_t count, const ToLeader::Use &use) {
        EXPECT_LE(count, from ? chunk : bytes);
        for (int64_t at = 0; at < count; at += part)
          use(own.data() + begin + at, at, std::min(part, count - at));
      },
      [&](const char *data, int64_t at, int64_t count) {
        EXPECT_EQ(at, static_cast<int64_t>(received.size())) << "ranges are consecutive";
        received.append(data, static_cast<size_t>(count));
      });
  return received;
}

TEST(ToLeaderTest, MovesValuesOfAnySizeFromEachRank) {
  const int64_t sizes[] = {0, 1, 24, chunk - 1, chunk, chunk + 1, 2 * chunk + 7};
  for (int count = 1; count <= 3; ++count) {
    const auto results = runRanks(count, [&](Ranks &ranks) {
      for (const int64_t largest : {int64_t{24}, chunk, 2 * chunk + 7}) {
        ToLeader toLeader(ranks, largest, "values");
        for (int from = 0; from < count; ++from)
          for (const int64_t bytes : sizes) {
            if (bytes > largest)
              continue;
            const std::string own = ranks.rank() == from ? valueOf(from, largest, bytes) : "";
            const std::string received = moved(toLeader, from, own, bytes, 1000 + from);
            EXPECT_TRUE(received == (ranks.isLeader() ? valueOf(from, largest, bytes) : ""))
                << count << " ranks, " << bytes << " bytes of rank " << from;
          }
      }
    });
    for (const RankResult &result : results)
      EXPECT_EQ(result.error, "");
  }
}

TEST(ToLeaderTest, DoesNotCopyAValueOfRankZero) {
  runRanks(2, [](Ranks &ranks) {
    const std::string value = valueOf(0, 0, 3 * chunk);
    ToLeader toLeader(ranks, 3 * chunk, "values");
    int uses = 0;
    toLeader.move(
        0, 3 * chunk,
        [&](int64_t begin, int64_t bytes, const ToLeader::Use &use) {
          use(value.data() + begin, 0, bytes);
        },
        [&](const char *from, int64_t at, int64_t bytes) {
          ++uses;
          EXPECT_EQ(from, value.data());
          EXPECT_EQ(at, 0);
          EXPECT_EQ(bytes, 3 * chunk);
        });
    EXPECT_EQ(uses, ranks.isLeader() ? 1 : 0);
  });
}

TEST(ToLeaderTest, NamesARankThatSendsNothing) {
  testing::internal::CaptureStderr();
  const auto results = runRanks(
      3,
      [](Ranks &ranks) {
        ToLeader toLeader(ranks, 8, "outputs of a batch");
        ranks.setStep(7);
        ranks.setBatch(4);
        if (ranks.rank() != 2)
          for (int from = 0; from < 3; ++from)
            moved(toLeader, from, "12345678", 8, 8);
      },
      /*timeout=*/0.2);
  EXPECT_EQ(results[0].abortedWith, exitSystemFault);
  EXPECT_EQ(results[1].abortedWith, -1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("^error: rank 0 \\(host .+\\): no answer for 0\\.2 s from rank 2 "
                            "\\(host .+\\) in batch 4 after step 7: outputs of a batch; all ranks "
                            "end\\."));
}

} // namespace

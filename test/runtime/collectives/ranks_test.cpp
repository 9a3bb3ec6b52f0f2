#include "runtime/collectives/ranks.h"

#include "runtime/abi/program.h"
#include "runtime/support/failure.h"
#include "test/runtime/collectives/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Ranks, OfASingleProcessNeedNoTransport) {
  Ranks alone(nullptr);
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_EQ(alone.count(), 1);
  EXPECT_TRUE(alone.isLeader());
  EXPECT_EQ(alone.maximum(-7), -7);
  EXPECT_EQ(alone.fromLeader(-7, "a value"), -7);
  EXPECT_THAT(alone.gather("text"), ElementsAre("text"));
  EXPECT_TRUE(alone.endTogether());
  alone.agree({{"--seed", "1"}});
}

TEST(Ranks, AgreeOnMaximumAndGatherTextsInOrder) {
  for (int count = 1; count <= 7; ++count) {
    const auto results = runRanks(count, [&](Ranks &ranks) {
      EXPECT_EQ(ranks.count(), count);
      EXPECT_EQ(ranks.isLeader(), ranks.rank() == 0);
      for (int64_t round = 0; round < 3; ++round)
        EXPECT_EQ(ranks.maximum(round - 10 * ((ranks.rank() + round) % count)), round);
      EXPECT_EQ(ranks.fromLeader(ranks.isLeader() ? -3 : ranks.rank(), "a value"), -3);
      // The texts have several sizes, and some are longer than one message.
      for (const size_t length : {size_t{0}, size_t{1}, Ranks::textBytes, 3 * Ranks::textBytes}) {
        const auto textOf = [&](int rank) {
          return std::string(length + static_cast<size_t>(rank), static_cast<char>('a' + rank));
        };
        const std::vector<std::string> all = ranks.gather(textOf(ranks.rank()));
        ASSERT_EQ(all.size(), static_cast<size_t>(count));
        for (int rank = 0; rank < count; ++rank)
          EXPECT_TRUE(all[static_cast<size_t>(rank)] == textOf(rank)) << length << " of " << rank;
      }
    });
    for (const RankResult &result : results)
      EXPECT_EQ(result.error, "");
  }
}

TEST(Ranks, OfAStageHaveTheirOwnNumbersAndSettings) {
  const auto results = runRanks(8, [](Ranks &ranks) {
    ranks.setSharingRanks(2);
    ranks.setStages(2, /*resultsStage=*/1);
    EXPECT_EQ(ranks.countOfStage(), 4);
    EXPECT_EQ(ranks.dataCount(), 2);
    EXPECT_EQ(ranks.dataRank(), ranks.rank() % 4 / 2);
    EXPECT_EQ(ranks.senderOf(0), 4);
    EXPECT_EQ(ranks.senderOf(1), 6);
    const std::string stage = std::to_string(ranks.rank() / 4);
    ranks.agree({{"--seed", "0"}, {"checksum of the stage", stage, /*isOfStage=*/true}});
    ranks.agree({{"checksum of the stage", ranks.rank() == 6 ? "7" : stage, /*isOfStage=*/true}});
  });
  for (const RankResult &result : results)
    EXPECT_THAT(result.error, ContainsRegex("^rank 6 \\(host .+\\): checksum of the stage 7, "
                                            "expected 1 as on rank 4 \\(host .+\\)$"));
}

/// Exchanges of stages and messages match although the stages prepare different numbers of
/// exchanges. Messages of a channel match in the order of their starts.
TEST(Ranks, MatchMessagesByChannelAndOrder) {
  const auto results = runRanks(2, [](Ranks &ranks) {
    const bool isFirst = ranks.rank() == 0;
    const int other = isFirst ? 1 : 0;
    std::string slots[3] = {"one", "two", "six"}, backward = isFirst ? "..." : "end";
    if (!isFirst)
      for (std::string &slot : slots)
        slot = "...";
    auto prepare = [&](std::string &text, bool isSent, uint32_t channel) {
      return ranks.prepareMessage({{{text.data(), 3}}}, other, isSent, channel);
    };
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (int i = 0; i < (isFirst ? 3 : 0); ++i)
      exchanges.push_back(
          ranks.prepare(std::vector<Message>(2), std::vector<Message>(2), PreparedBy::Stage));
    std::vector<std::unique_ptr<Exchange>> forward;
    for (std::string &slot : slots)
      forward.push_back(prepare(slot, isFirst, 0));
    const auto back = prepare(backward, !isFirst, 1);
    EXPECT_EQ(ranks.maximum(ranks.rank()), 1);
    back->start();
    for (const size_t i : {2, 0, 1})
      forward[isFirst ? i : (i + 1) % 3]->start();
    ranks.wait(*back, "backward");
    for (const size_t i : {1, 2, 0})
      ranks.wait(*forward[i], "forward");
    if (isFirst)
      EXPECT_EQ(backward, "end");
    else
      EXPECT_THAT(slots, ElementsAre("six", "one", "two"));
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.error, "");
}

TEST(Ranks, NameEachSettingThatDiffers) {
  const std::string schedule(2 * Ranks::textBytes, '1');
  const auto results = runRanks(4, [&](Ranks &ranks) {
    const bool isSecond = ranks.rank() == 1;
    ranks.agree({{"--seed", "0"}, {"schedule", schedule}});
    ranks.agree({{"program", ranks.rank() == 3 ? "other" : "same"},
                 {"last step", isSecond ? "4" : "3"},
                 {"--seed", "0"},
                 {"schedule", schedule + (isSecond ? "1" : "0")},
                 {"samples", isSecond ? "" : "7"}});
  });
  for (const RankResult &result : results) {
    EXPECT_THAT(
        result.error,
        ContainsRegex("rank 1 \\(host .+\\): last step 4, expected 3 as on rank 0 \\(host"));
    EXPECT_THAT(result.error,
                HasSubstr(": schedule " + schedule + "1, expected " + schedule + "0 as on rank 0"));
    EXPECT_THAT(result.error, HasSubstr(": samples , expected 7 as on rank 0"));
    EXPECT_THAT(result.error, ContainsRegex("rank 3 \\(host .+\\): program other, expected same"));
    EXPECT_THAT(result.error, Not(HasSubstr("seed")));
    EXPECT_THAT(result.error, Not(HasSubstr("rank 2")));
  }
}

TEST(Ranks, NameARankOfAnotherVersion) {
  const auto results = runRanks(2, [](Ranks &ranks) {
    std::vector<Ranks::Setting> settings{{"program", "a"}};
    if (ranks.rank() == 0)
      settings.push_back({"--new-flag", "1"});
    ranks.agree(settings);
  });
  EXPECT_THAT(results[0].error, ContainsRegex("^rank 1 .* runs another version of the program$"));
}

TEST(Ranks, CheckTheNumberOfProcesses) {
  for (const RankResult &result : runRanks(3, [](Ranks &ranks) { ranks.checkCount(2); }))
    EXPECT_EQ(result.error, "this program was compiled for 2 ranks, but the launcher started 3 "
                            "processes; start it with mpirun -n 2, or compile it with --ranks 3");
  for (const RankResult &result : runRanks(3, [](Ranks &ranks) { ranks.checkCount(3); }))
    EXPECT_EQ(result.error, "");
}

TEST(Ranks, EndTogetherOnlyIfAllEnd) {
  runRanks(3, [](Ranks &ranks) { EXPECT_TRUE(ranks.endTogether()); });
  runRanks(
      3,
      [](Ranks &ranks) {
        if (ranks.rank() != 2)
          EXPECT_FALSE(ranks.endTogether());
      },
      /*timeout=*/0.2);
}

TEST(Ranks, NameSilentRanksBeforeTheFirstStep) {
  testing::internal::CaptureStderr();
  const auto results = runRanks(
      4,
      [](Ranks &ranks) {
        if (ranks.isLeader())
          ranks.maximum(0);
      },
      /*timeout=*/0.2);
  EXPECT_EQ(results[0].abortedWith, exitSystemFault);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("^error: rank 0 \\(host .+\\): no answer for 0\\.2 s from rank 1 "
                            "\\(host .+\\), rank 2 \\(host .+\\), rank 3 \\(host .+\\) before the "
                            "first step: agreement on the next step; all ranks end\\."));
}

/// An exchange whose first poll takes as long as if its process had been stopped.
class PausedExchange final : public Exchange {
public:
  explicit PausedExchange(std::chrono::milliseconds pause) : pause(pause) {}
  void start() override {}
  bool poll() override {
    if (polls++ == 0)
      std::this_thread::sleep_for(pause);
    return polls > 3;
  }
  std::vector<int> pending() const override { return {1}; }

private:
  std::chrono::milliseconds pause;
  int polls = 0;
};

/// Rank 2 waits for rank 1, which waits for rank 0.
TEST(Ranks, NameTheSilentRankAtTheStartOfAChain) {
  testing::internal::CaptureStderr();
  const auto results = runRanks(
      3,
      [](Ranks &ranks) {
        if (ranks.isLeader())
          return;
        char byte = 0;
        const auto exchange =
            ranks.prepareMessage({{{&byte, 1}}}, ranks.rank() - 1, /*isSent=*/false, 0);
        exchange->start();
        ranks.wait(*exchange, "a message");
      },
      /*timeout=*/0.4);
  const std::string messages = testing::internal::GetCapturedStderr();
  for (const int rank : {1, 2}) {
    EXPECT_EQ(results[static_cast<size_t>(rank)].abortedWith, exitSystemFault);
    EXPECT_THAT(messages,
                ContainsRegex("error: rank " + std::to_string(rank) +
                              " \\(host .+\\): no answer for 0\\.4 s from rank 0 \\(host .+\\) "
                              "before the first step: a message"));
  }
}

TEST(Ranks, DoNotBlameOthersAfterAPauseOfTheirOwn) {
  const auto results = runRanks(
      1,
      [](Ranks &ranks) {
        PausedExchange exchange(std::chrono::milliseconds(600));
        ranks.wait(exchange, "a pause");
      },
      /*timeout=*/0.4);
  EXPECT_EQ(results[0].abortedWith, -1);
}

/// An exchange that completes after `duration` and restarts the time limit until `advances` ends.
class SlowExchange final : public Exchange {
public:
  SlowExchange(std::chrono::milliseconds duration, std::chrono::milliseconds advances)
      : duration(duration), advances(advances) {}
  void start() override {}
  bool poll() override { return passed() > duration; }
  std::vector<int> pending() const override { return {}; }
  bool restartsLimit() override { return passed() < advances; }

private:
  using Clock = std::chrono::steady_clock;
  Clock::duration passed() const { return Clock::now() - begin; }
  std::chrono::milliseconds duration, advances;
  Clock::time_point begin = Clock::now();
};

TEST(Ranks, RestartTheLimitAsLongAsTheExchangeAdvances) {
  using std::chrono::milliseconds;
  runRanks(
      1,
      [](Ranks &ranks) {
        int calls = 0;
        ranks.whileWaiting([&] { ++calls; });
        SlowExchange advancing(milliseconds(600), milliseconds(600));
        EXPECT_TRUE(ranks.waitFor(advancing));
        EXPECT_GT(calls, 0);
        SlowExchange stopping(milliseconds(5000), milliseconds(300));
        EXPECT_FALSE(ranks.waitFor(stopping));
      },
      /*timeout=*/0.2);
}

TEST(Ranks, FindThoseThatDoNotNoticeTheEndOfALimit) {
  const auto results = runRanks(
      4,
      [](Ranks &ranks) {
        if (ranks.rank() != 2)
          EXPECT_THAT(ranks.findSilent(), ElementsAre(2));
      },
      /*timeout=*/0.4);
  for (const RankResult &result : results)
    EXPECT_EQ(result.error, "");
}

TEST(Ranks, EndAfterTheRankThatReportsTheCause) {
  testing::internal::CaptureStderr();
  const auto results =
      runRanks(1, [](Ranks &ranks) { ranks.endAfterOthers("NCCL: no network"); }, /*timeout=*/0.2);
  EXPECT_EQ(results[0].abortedWith, exitSystemFault);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("^error: rank 0 \\(host .+\\): NCCL: no network before the first "
                            "step; all ranks end"));
}

std::unique_ptr<Transport> openBlocked() {
  std::this_thread::sleep_for(std::chrono::seconds(20));
  return openThreads();
}

TEST(RanksDeathTest, EndIfNotAllRanksStart) {
  EXPECT_EXIT(Ranks(openBlocked, 0.05), testing::ExitedWithCode(exitSystemFault),
              "error: host .+: not all ranks have started after 0\\.05 s\\. --timeout sets");
}

TEST(RanksDeathTest, EndIfACallBlocks) {
  EXPECT_EXIT(Ranks(nullptr, 0.05)
                  .runWithinLimit("NCCL has not connected the ranks",
                                  [] { std::this_thread::sleep_for(std::chrono::seconds(20)); }),
              testing::ExitedWithCode(exitSystemFault),
              "error: rank 0: NCCL has not connected the ranks after 0\\.05 s\\. --timeout sets");
}

} // namespace

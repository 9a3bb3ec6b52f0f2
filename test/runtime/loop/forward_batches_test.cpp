#include "runtime/loop/forward_batches.h"

#include "test/runtime/collectives/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ElementsAre;

namespace {

constexpr int64_t batchSize = 4;

TEST(ForwardBatchesTest, BelongToTheRanksInTurn) {
  for (int count = 1; count <= 5; ++count)
    for (int64_t end = 1; end <= 45; ++end)
      runRanks(count, [&](Ranks &ranks) {
        const ForwardBatches batches(batchSize, end, ranks);
        int64_t next = 0, samples = 0;
        for (int64_t round = 0; round < batches.rounds(); ++round)
          for (int rank = 0; rank < count; ++rank) {
            const std::optional<int64_t> number = batches.batchOf(round, rank);
            EXPECT_EQ(number.has_value(), next < batches.count());
            if (!number)
              continue;
            EXPECT_EQ(*number, next++);
            EXPECT_EQ(*number % count, rank);
            samples += batches.samplesOf(*number);
          }
        EXPECT_EQ(next, batches.count());
        EXPECT_EQ(samples, end);
        // The last round has a batch for rank 0, at least.
        EXPECT_TRUE(batches.batchOf(batches.rounds() - 1, 0).has_value());
      });
}

TEST(ForwardBatchesTest, AreRepeatedByRanksThatHaveNoneLeft) {
  // The rounds of 7 batches on 3 ranks are 0 1 2, 3 4 5, 6 - -.
  std::vector<std::vector<int64_t>> computed(3);
  runRanks(3, [&](Ranks &ranks) {
    const ForwardBatches batches(batchSize, 26, ranks);
    for (int64_t round = 0; round < batches.rounds(); ++round)
      computed[static_cast<size_t>(ranks.rank())].push_back(batches.computedIn(round));
  });
  EXPECT_THAT(computed,
              ElementsAre(ElementsAre(0, 3, 6), ElementsAre(1, 4, 4), ElementsAre(2, 5, 5)));
  // There are fewer batches than ranks.
  runRanks(3, [&](Ranks &ranks) {
    const ForwardBatches batches(batchSize, 3, ranks);
    EXPECT_EQ(batches.rounds(), 1);
    EXPECT_EQ(batches.computedIn(0), 0);
  });
}

TEST(ForwardBatchesTest, RepeatTheLastSampleAsPadding) {
  Ranks alone(nullptr);
  const ForwardBatches batches(batchSize, 6, alone);
  Batch batch = {{9, 9, 9, 9, 9}, 2};
  batches.samplesOf(0, batch);
  EXPECT_EQ(batch, (Batch{{0, 1, 2, 3}, 0}));
  batches.samplesOf(1, batch);
  EXPECT_EQ(batch, (Batch{{4, 5, 5, 5}, 0}));
  EXPECT_EQ(batches.samplesOf(1), 2);
}

} // namespace

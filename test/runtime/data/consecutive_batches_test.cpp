// Tests the samples of each step, for each treatment of the last batch of an epoch.
#include "runtime/data/consecutive_batches.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

using Rows = std::vector<int64_t>;

ConsecutiveBatches inOrder(int64_t rows, LastBatch last) { return {rows, 4, last, false, 0}; }

TEST(ConsecutiveBatches, Wraps) {
  ConsecutiveBatches order = inOrder(10, LastBatch::Wrap);
  EXPECT_EQ(order.batchOf(1), (Batch{{0, 1, 2, 3}, 0, 0}));
  EXPECT_EQ(order.batchOf(3), (Batch{{8, 9, 0, 1}, 0, 8}));
  EXPECT_EQ(order.batchOf(4), (Batch{{2, 3, 4, 5}, 0, 12}));
  EXPECT_EQ(order.stepsOf(1), 3);
  EXPECT_EQ(order.stepsOf(2), 5);
  EXPECT_EQ(inOrder(3, LastBatch::Wrap).batchOf(1), (Batch{{0, 1, 2, 0}, 0, 0}));
  EXPECT_EQ(order.stepsOf(INT64_MAX), std::nullopt);
}

TEST(ConsecutiveBatches, Drops) {
  ConsecutiveBatches order = inOrder(10, LastBatch::Drop);
  EXPECT_EQ(order.batchOf(2), (Batch{{4, 5, 6, 7}, 0, 4}));
  EXPECT_EQ(order.batchOf(3), (Batch{{0, 1, 2, 3}, 0, 10}));
  EXPECT_EQ(order.stepsOf(1), 2);
  EXPECT_EQ(order.stepsOf(3), 6);
}

TEST(ConsecutiveBatches, Masks) {
  ConsecutiveBatches order = inOrder(10, LastBatch::Mask);
  EXPECT_EQ(order.batchOf(3), (Batch{{8, 9, 9, 9}, 2, 8}));
  EXPECT_EQ(order.batchOf(4), (Batch{{0, 1, 2, 3}, 0, 10}));
  EXPECT_EQ(order.stepsOf(1), 3);
  EXPECT_EQ(order.stepsOf(2), 6);
  EXPECT_EQ(inOrder(3, LastBatch::Mask).batchOf(2), (Batch{{0, 1, 2, 2}, 1, 3}));
  EXPECT_EQ(inOrder(8, LastBatch::Mask).stepsOf(2), 4);
}

TEST(ConsecutiveBatches, GoesOnAfterAnotherBatch) {
  // Two steps read 3 of 10 samples each, and further steps read 4.
  auto after = [](LastBatch last, int64_t steps) {
    const ConsecutiveBatches before(10, 3, last, false, 0);
    return ConsecutiveBatches(10, 4, last, false, 0, before.originAfter(steps));
  };
  ConsecutiveBatches wrapped = after(LastBatch::Wrap, 2);
  EXPECT_EQ(wrapped.batchOf(3), (Batch{{6, 7, 8, 9}, 0, 6}));
  EXPECT_EQ(wrapped.batchOf(4), (Batch{{0, 1, 2, 3}, 0, 10}));
  EXPECT_TRUE(wrapped.endsEpoch(3));
  EXPECT_EQ(wrapped.stepsOf(1), 3);
  EXPECT_EQ(wrapped.stepsOf(2), 6);
  ConsecutiveBatches masked = after(LastBatch::Mask, 1); // 7 samples are left.
  EXPECT_EQ(masked.batchOf(3), (Batch{{7, 8, 9, 9}, 1, 7}));
  EXPECT_EQ(masked.batchOf(4), (Batch{{0, 1, 2, 3}, 0, 10}));
  EXPECT_TRUE(masked.endsEpoch(3) && masked.endsEpoch(6) && !masked.endsEpoch(4));
  EXPECT_EQ(masked.stepsOf(2), 6);
  ConsecutiveBatches dropped = after(LastBatch::Drop, 3); // The last sample is dropped.
  EXPECT_EQ(dropped.batchOf(4), (Batch{{0, 1, 2, 3}, 0, 10}));
  EXPECT_EQ(dropped.stepsOf(1), 3);
  EXPECT_EQ(dropped.stepsOf(2), 5);
  EXPECT_TRUE(dropped.endsEpoch(5));
}

TEST(ConsecutiveBatches, PartsMakeTheWhole) {
  for (LastBatch last : {LastBatch::Wrap, LastBatch::Drop, LastBatch::Mask}) {
    ConsecutiveBatches order(15, 12, last, /*shuffle=*/true, 7);
    for (int64_t step = 1; step < 6; ++step) {
      Batch joined;
      for (int64_t part = 0; part < 3; ++part) {
        const Batch piece = order.batchOf(step, part, 3);
        EXPECT_EQ(piece.rows.size(), 4U);
        joined.rows.insert(joined.rows.end(), piece.rows.begin(), piece.rows.end());
        joined.filler += piece.filler;
        EXPECT_EQ(piece.position, order.batchOf(step).position + 4 * part);
      }
      joined.position = order.batchOf(step).position;
      EXPECT_EQ(joined, order.batchOf(step));
    }
  }
  // The last three samples fill no micro-batch.
  ConsecutiveBatches order(15, 12, LastBatch::Mask, /*shuffle=*/false, 0);
  EXPECT_EQ(order.batchOf(2, 0, 3), (Batch{{12, 13, 14, 14}, 1, 12}));
  EXPECT_EQ(order.batchOf(2, 2, 3), (Batch{{14, 14, 14, 14}, 4, 20}));
}

TEST(ConsecutiveBatches, AnEpochTakesEachRowOnce) {
  for (LastBatch last : {LastBatch::Drop, LastBatch::Mask}) {
    ConsecutiveBatches order(10, 4, last, /*shuffle=*/true, 7);
    std::set<Rows> epochs;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      Rows taken;
      const int64_t steps = *order.stepsOf(1);
      for (int64_t step = epoch * steps + 1; step <= (epoch + 1) * steps; ++step) {
        Batch batch = order.batchOf(step);
        taken.insert(taken.end(), batch.rows.begin(), batch.rows.end() - batch.filler);
      }
      epochs.insert(taken);
      std::sort(taken.begin(), taken.end());
      EXPECT_EQ(std::unique(taken.begin(), taken.end()), taken.end());
      EXPECT_EQ(taken.size(), last == LastBatch::Drop ? 8u : 10u);
    }
    EXPECT_EQ(epochs.size(), 3u); // each in another order
  }
}

TEST(ConsecutiveBatches, DataThatIsOneBatchStaysInItsOrder) {
  ConsecutiveBatches order(4, 4, LastBatch::Wrap, /*shuffle=*/true, 7);
  for (int64_t step = 1; step < 9; ++step)
    EXPECT_EQ(order.batchOf(step), (Batch{{0, 1, 2, 3}, 0, 4 * (step - 1)}));
}

TEST(LastBatch, IsSaidWithTheNumbers) {
  auto said = [](LastBatch last, int64_t rows, int64_t steps) {
    return describeLastBatch(last, mtc_program, rows, 4, steps);
  };
  EXPECT_THAT(said(LastBatch::Wrap, 10, 3),
              HasSubstr("the last 2 of 10 samples do not fill a batch of 4 and share"));
  EXPECT_EQ(said(LastBatch::Wrap, 10, 2), "");
  EXPECT_EQ(said(LastBatch::Wrap, 8, 9), "");
  EXPECT_THAT(said(LastBatch::Wrap, 3, 1), HasSubstr("3 samples and a batch has 4"));
  EXPECT_THAT(said(LastBatch::Drop, 10, 2),
              HasSubstr("the last 2 of 10 samples do not fill a batch of 4"));
}

TEST(LastBatch, OfRuns) {
  TemporaryFolder folder;
  writeSampleData(folder, 10);
  auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--metrics", folder / "m.jsonl"});
    return runHere(mtc_program, withData(folder, flags));
  };
  RunResult result = run({});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error,
              HasSubstr("note: the last 2 of 10 samples do not fill a batch of 4 and share one"));
  EXPECT_EQ(run({"--quiet"}).error, "");
  EXPECT_EQ(run({"--last-batch", "wrap"}).error, "");
  EXPECT_EQ(run({"--last-batch", "drop", "--epochs", "3"}).status, 0);
  EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 6u);
  EXPECT_THAT(run({"--last-batch", "mask"}).error, HasSubstr("mask: the loss mse has no labels"));
  EXPECT_THAT(run({"--last-batch", "some"}).error,
              HasSubstr("--last-batch some: expected wrap, drop or mask"));
  writeSampleData(folder, 3);
  EXPECT_THAT(run({"--quiet"}).error,
              HasSubstr("warning: the data has 3 samples and a batch has 4"));
  EXPECT_THAT(run({"--last-batch", "drop"}).error, HasSubstr("compile for a smaller batch"));
  result = runHere(mtc_program, withData(folder, {"--gradients", folder / "g", "--no-shuffle"}));
  EXPECT_THAT(result.error, HasSubstr("warning: the data has 3 samples"));
}

TEST(LastBatch, ResumesToTheSameBitsOnlyAsItWas) {
  TemporaryFolder folder;
  writeSampleData(folder, 10);
  auto run = [&](std::vector<std::string> flags) {
    return runHere(mtc_program, withData(folder, flags));
  };
  for (const std::string last : {"wrap", "drop"}) {
    const std::string saved = folder / last;
    ASSERT_EQ(run({"--steps", "9", "--last-batch", last, "--export", folder / "whole"}).status, 0);
    ASSERT_EQ(run({"--steps", "5", "--last-batch", last, "--save", saved}).status, 0);
    ASSERT_EQ(run({"--steps", "9", "--resume", saved, "--export", folder / "resumed"}).status, 0);
    EXPECT_EQ(readFile(folder / "whole"), readFile(folder / "resumed")) << last;
    const std::string other = last == "wrap" ? "drop" : "wrap";
    RunResult result = run({"--steps", "9", "--resume", saved, "--last-batch", other});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error, HasSubstr("the checkpoint was made with --last-batch " + last));
  }
}

} // namespace

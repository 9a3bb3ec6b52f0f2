// Tests forward runs whose batches are distributed over ranks: results are bit-identical to one
// process, and errors of one rank are reported.
#include "runtime/abi/row_values.h"
#include "runtime/devices/cpu/cpu_device.h"
#include "runtime/loop/evaluate.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/evaluation_sums.h"
#include "runtime/state/initial_weights.h"
#include "runtime/support/failure.h"
#include "test/runtime/collectives/thread_ranks.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <memory>
#include <optional>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;

namespace {

/// Counts the computations of a rank.
struct Computations final : Observer {
  void operation(const OperationInfo &, Clock::time_point, Clock::time_point) override {}
  void phase(Phase phase, int64_t, Clock::time_point, Clock::time_point) override {
    count += phase == Phase::Evaluate;
  }
  int count = 0;
};

std::optional<Evaluation> evaluateAll(const Session &session) {
  EvaluationSums sums(session.program, session.ranks);
  return evaluateData(session, session.data, sums, /*step=*/1, /*seed=*/0);
}

class RanksEvaluation : public testing::Test {
protected:
  TemporaryFolder folder;
  MtcProgram program = mtc_program;
  std::vector<int> computations; ///< of each rank in the last run
  int tensor = 1;                ///< ranks that have the same samples

  /// Runs `action` with a session of the sample on each rank, which has the data of the folder.
  std::vector<RankResult> onRanks(int count, const std::function<void(const Session &)> &action,
                                  double timeout = 30) {
    computations.assign(static_cast<size_t>(count), 0);
    return runRanks(
        count,
        [&](Ranks &ranks) {
          ranks.setSharingRanks(tensor);
          Options options;
          options.quiet = true;
          options.outputs = outputs();
          CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
          InitialWeights(program, {"", folder.folder(), 1, true}, false).initialize(device);
          Dataset data(program, {{"x", folder / "x.npy"}, {"target", folder / "target.npy"}},
                       false);
          Computations counted;
          const std::vector<Observer *> observers = {&counted};
          device.prepare({});
          BatchReader batches(program, device);
          RunListeners listeners;
          const FiniteVariables finite;
          action({program, "sample", options, device, ranks, data, nullptr, nullptr, batches,
                  observers, listeners, nullptr, nullptr, nullptr, finite});
          computations[static_cast<size_t>(ranks.rank())] = counted.count;
        },
        timeout);
  }
  std::string outputs() const { return folder / "outputs.safetensors"; }

  /// Writes data with one row whose target is out of the sample's range.
  void writeDataWithFault(int64_t rows, int64_t wrongRow) {
    writeSampleData(folder, rows);
    std::vector<float> targets(static_cast<size_t>(rows));
    targets[static_cast<size_t>(wrongRow)] = 2000;
    writeFile(folder / "target.npy",
              npyBytes("<f4", "(" + std::to_string(rows) + ", 1)", bytesOf(targets)));
  }
};

TEST_F(RanksEvaluation, HasTheBitsOfOneProcess) {
  for (const int64_t rows : {1, 4, 7, 8, 22, 23, 40}) {
    writeSampleData(folder, rows);
    std::optional<Evaluation> wanted;
    std::string wantedOutputs;
    for (const auto &[count, sharing] :
         std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {4, 2}, {3, 3}}) {
      tensor = sharing;
      const int batch = 4 * count / sharing; // samples of a round
      std::vector<Evaluation> found(static_cast<size_t>(count));
      auto results = onRanks(count, [&](const Session &session) {
        const auto each = evaluateAll(session);
        ASSERT_TRUE(each);
        found[static_cast<size_t>(session.ranks.rank())] = *each;
      });
      EXPECT_THAT(computations, Each((rows + batch - 1) / batch)) << "of each rank";
      for (const RankResult &result : results)
        EXPECT_EQ(result.error, "");
      if (!wanted)
        wanted = found.front();
      for (const Evaluation &each : found) {
        EXPECT_EQ(std::bit_cast<int64_t>(each.loss), std::bit_cast<int64_t>(wanted->loss))
            << rows << " rows on " << count << " ranks";
        EXPECT_EQ(each.samples, rows);
      }

      results = onRanks(count, [](const Session &session) { writeOutputs(session, {}); });
      EXPECT_THAT(computations, Each((rows + batch - 1) / batch));
      for (const RankResult &result : results)
        EXPECT_EQ(result.error, "");
      const std::string file = readFile(outputs());
      if (count == 1)
        wantedOutputs = file;
      EXPECT_TRUE(file == wantedOutputs) << rows << " rows on " << count << " ranks";
    }
    EXPECT_GT(wanted->loss, 0);
  }
}

TEST_F(RanksEvaluation, OfWholeBatchesHasTheLossOfOneProcess) {
  program.row_metrics = {4, 0, nullptr};
  writeSampleData(folder, 23);
  std::optional<Evaluation> wanted;
  for (int count = 1; count <= 3; ++count)
    onRanks(count, [&](const Session &session) {
      const std::optional<Evaluation> found = evaluateAll(session);
      ASSERT_TRUE(found);
      if (count == 1)
        wanted = found;
      EXPECT_EQ(std::bit_cast<int64_t>(found->loss), std::bit_cast<int64_t>(wanted->loss)) << count;
      EXPECT_EQ(found->samples, 20);
      EXPECT_EQ(found->warnings.size(), session.ranks.isLeader() ? 1u : 0u);
    });
}

TEST_F(RanksEvaluation, EndsAllRanksByTheErrorOfOne) {
  // Row 17 is in batch 4, the second batch of rank 1 of 3.
  writeDataWithFault(30, 17);
  testing::internal::CaptureStderr();
  const auto results = onRanks(
      3, [](const Session &session) { evaluateAll(session); },
      /*timeout=*/0.3);
  const std::string messages = testing::internal::GetCapturedStderr();
  EXPECT_THAT(results[1].error, HasSubstr("2000"));
  for (const size_t rank : {size_t{0}, size_t{2}})
    EXPECT_EQ(results[rank].abortedWith, exitSystemFault) << rank;
  EXPECT_THAT(messages,
              ContainsRegex("error: rank 0 \\(host .+\\): no answer for 0\\.3 s from rank "
                            "1 \\(host .+\\).* in batch 4: agreement on the next batch"));
}

TEST_F(RanksEvaluation, EndsAllRanksIfRankZeroCannotWrite) {
  writeSampleData(folder, 2000);
  std::vector<RankResult> results;
  testing::internal::CaptureStderr();
  {
    const FileSizeLimit limit(2000);
    results =
        onRanks(2, [](const Session &session) { writeOutputs(session, {}); }, /*timeout=*/0.3);
  }
  const std::string messages = testing::internal::GetCapturedStderr();
  EXPECT_THAT(results[0].error, HasSubstr("outputs.safetensors"));
  EXPECT_EQ(results[1].abortedWith, exitSystemFault);
  EXPECT_THAT(messages, HasSubstr("error: rank 1 (host "));
  EXPECT_FALSE(fileExists(outputs()));
}

/// Returns sums whose total depends on the order of summation, and different numbers of classes.
MetricSums sumsOf(int64_t number) {
  MetricSums sums;
  sums.total(mtc::abi::rowLoss).add(number % 3 == 0 ? 1e16 : number % 3 == 1 ? 1.5 : -1e16);
  sums.total(mtc::abi::rowWeight).add(static_cast<double>(number) / 7);
  sums.addTarget(number, number / 2);
  return sums;
}

TEST(EvaluationSumsTest, HaveTheOrderOfTheBatches) {
  const MtcRowValue values[] = {{mtc::abi::rowLoss, MTC_ROW_SUM, 0, 1},
                                {mtc::abi::rowWeight, MTC_ROW_SUM, 0, 1},
                                {mtc::abi::rowPredictedClass, MTC_ROW_CLASSES, 0, 1},
                                {mtc::abi::rowLabelClass, MTC_ROW_CLASSES, 0, 1}};
  MtcProgram program = mtc_program;
  program.row_metrics = {4, 4, values};
  for (int64_t batches : {1, 2, 10}) {
    MetricSums wanted;
    for (int64_t number = 0; number < batches; ++number)
      wanted += sumsOf(number);
    for (int count = 1; count <= 3; ++count)
      runRanks(count, [&](Ranks &ranks) {
        EvaluationSums sums(program, ranks);
        for (int64_t number = 0; number < batches; ++number) {
          const auto rank = static_cast<int>(number % count);
          const MetricSums added =
              sums.add(rank, rank == ranks.rank() ? sumsOf(number) : MetricSums());
          if (ranks.isLeader())
            EXPECT_EQ(added.sum(mtc::abi::rowLoss), sumsOf(number).sum(mtc::abi::rowLoss));
        }
        const MetricSums found = sums.finish();
        if (!ranks.isLeader())
          return;
        for (const char *name : {mtc::abi::rowLoss, mtc::abi::rowWeight}) {
          EXPECT_EQ(found.sum(name), wanted.sum(name)) << name << " on " << count;
          EXPECT_EQ(found.squares(name), wanted.squares(name));
          EXPECT_EQ(found.rows(name), wanted.rows(name));
        }
        ASSERT_EQ(found.getClasses().size(), wanted.getClasses().size());
        for (size_t i = 0; i < wanted.getClasses().size(); ++i) {
          EXPECT_EQ(found.getClasses()[i].hits, wanted.getClasses()[i].hits);
          EXPECT_EQ(found.getClasses()[i].predicted, wanted.getClasses()[i].predicted);
          EXPECT_EQ(found.getClasses()[i].labelled, wanted.getClasses()[i].labelled);
        }
      });
  }
}

} // namespace

// Tests runs of programs with pipeline stages, whose ranks are threads: steps, checkpoints and
// evaluations have the bits of one process.
#include "runtime/devices/cpu/cpu_device.h"
#include "runtime/loop/batch_choice.h"
#include "runtime/loop/evaluate.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/train.h"
#include "runtime/reports/run_listener.h"
#include "runtime/state/initial_weights.h"
#include "runtime/support/failure.h"
#include "runtime/support/stages.h"
#include "test/runtime/collectives/thread_ranks.h"
#include "test/runtime/loop/stage_programs.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ContainsRegex;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

namespace {

/// Records the losses of steps.
class Losses final : public RunListener {
public:
  explicit Losses(std::vector<double> &found) : found(found) {}
  void step(const StepMetrics &metrics) override { found.push_back(metrics.loss); }

private:
  std::vector<double> &found;
};

class Pipeline : public testing::Test {
protected:
  Pipeline() { writeSampleData(folder, 22); }

  struct Run {
    int64_t steps = 0;        ///< 0: only evaluates and writes outputs
    std::string save, resume; ///< names of folders
  };

  /// Runs a program on all of its ranks. Returns their results; `losses` are those of each rank.
  std::vector<RankResult> run(const StagePrograms &programs, const Run &given,
                              double timeout = 30) {
    losses.assign(static_cast<size_t>(programs.first().ranks), {});
    return runRanks(
        static_cast<int>(programs.first().ranks),
        [&](Ranks &ranks) { runRank(*stageOf(&programs.first(), ranks.rank()), ranks, given); },
        timeout);
  }

  void runRank(const MtcProgram &program, Ranks &ranks, const Run &given) {
    ranks.setStages(program.stages, program.results_stage);
    ranks.preparePieces();
    Options options;
    options.quiet = true;
    options.steps = given.steps;
    options.save = given.save;
    options.outputs = folder / "outputs.safetensors";
    TrainingState state;
    std::optional<mtc::runtime::Checkpoint> resumed;
    if (!given.resume.empty()) {
      resumed.emplace(program, folder / given.resume);
      state = resumed->state();
    }
    CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
    InitialWeights(program, {"", folder.folder(), 1, true}, false).initialize(device);
    if (resumed)
      resumed->load(program, device);
    Dataset data(program, {{"x", folder / "x.npy"}, {"target", folder / "target.npy"}}, false);
    chooseBatches(program, options, resumed.has_value(), data, state);
    const auto order = orderOf(data, state);
    std::optional<CheckpointFolder> checkpoints;
    if (ranks.isLeader() && !given.save.empty())
      checkpoints.emplace(folder / given.save);
    const FiniteVariables finite(program, device);
    device.prepare({});
    BatchReader batches(program, device);
    RunListeners listeners;
    listeners.add(std::make_unique<Losses>(losses[static_cast<size_t>(ranks.rank())]));
    const std::vector<Observer *> observers;
    const Session session{program, "sample",  options,     device,
                          ranks,   data,      order.get(), nullptr,
                          batches, observers, listeners,   checkpoints ? &*checkpoints : nullptr,
                          nullptr, nullptr,   finite};
    if (given.steps)
      return train(session, state);
    EvaluationSums sums(program, ranks);
    const auto found = evaluateData(session, data, sums, /*step=*/1, /*seed=*/0);
    losses[static_cast<size_t>(ranks.rank())] = {found->loss};
    writeOutputs(session, state);
  }

  /// Returns the bytes of a checkpoint and its manifest, without the name of the data file.
  std::string checkpointOf(const std::string &name) const {
    std::string manifest = readFile(folder / name + "/manifest.json");
    const std::string file = nlohmann::json::parse(manifest)["file"];
    return manifest + readFile(folder / name + "/" + file);
  }

  TemporaryFolder folder;
  std::vector<std::vector<double>> losses;
};

TEST_F(Pipeline, StepsAndCheckpointsHaveTheBitsOfOneProcess) {
  const StagePrograms one(1, /*hasTasks=*/false), tasks(1, /*hasTasks=*/true), two(2, true);
  EXPECT_THAT(run(one, {5, "one", ""}), Each(Field(&RankResult::error, "")));
  const std::vector<double> wanted = losses.front();
  ASSERT_EQ(wanted.size(), 5U);
  EXPECT_GT(wanted.front(), 0);
  EXPECT_NE(wanted.front(), wanted.back());
  for (const auto &[programs, name] : {std::pair(&tasks, "tasks"), std::pair(&two, "two")}) {
    EXPECT_THAT(run(*programs, {5, name, ""}), Each(Field(&RankResult::error, "")));
    EXPECT_THAT(losses, Each(wanted)) << "on each rank of " << name;
    EXPECT_EQ(checkpointOf(name), checkpointOf("one")) << name;
  }
  // Each program resumes the checkpoints of the others.
  int resumed = 0;
  for (const StagePrograms *first : {&one, &two})
    for (const StagePrograms *second : {&one, &tasks, &two}) {
      const std::string part = "part" + std::to_string(++resumed),
                        rest = "rest" + std::to_string(resumed);
      EXPECT_THAT(run(*first, {2, part, ""}), Each(Field(&RankResult::error, "")));
      EXPECT_THAT(run(*second, {5, rest, part}), Each(Field(&RankResult::error, "")));
      EXPECT_THAT(losses, Each(std::vector(wanted.begin() + 2, wanted.end())));
      EXPECT_EQ(checkpointOf(rest), checkpointOf("one"));
    }
}

TEST_F(Pipeline, RanksOfAStageAddTheirGradients) {
  const StagePrograms one(1, /*hasTasks=*/true, /*data=*/2), two(2, /*hasTasks=*/true, 2);
  EXPECT_THAT(run(one, {3, "one", ""}), Each(Field(&RankResult::error, "")));
  const std::vector<double> wanted = losses.front();
  EXPECT_THAT(run(two, {3, "two", ""}), Each(Field(&RankResult::error, "")));
  ASSERT_EQ(losses.size(), 4U);
  EXPECT_THAT(losses, Each(wanted));
  EXPECT_EQ(checkpointOf("two"), checkpointOf("one"));
}

TEST_F(Pipeline, EvaluationsAndOutputsHaveTheBitsOfOneProcess) {
  const StagePrograms one(1, /*hasTasks=*/false);
  EXPECT_THAT(run(one, {}), Each(Field(&RankResult::error, "")));
  const std::vector<double> wanted = losses.front();
  EXPECT_GT(wanted.front(), 0);
  const std::string outputs = readFile(folder / "outputs.safetensors");
  for (const int64_t data : {1, 2}) {
    writeFile(folder / "outputs.safetensors", "");
    EXPECT_THAT(run(StagePrograms(2, /*hasTasks=*/true, data), {}),
                Each(Field(&RankResult::error, "")));
    EXPECT_THAT(losses, Each(wanted)) << data;
    EXPECT_TRUE(readFile(folder / "outputs.safetensors") == outputs) << data;
  }
}

TEST_F(Pipeline, AMessageThatDoesNotArriveEndsAllRanks) {
  std::vector<float> targets(22, 2000); // beyond the sample's range, which stage 1 reports
  writeFile(folder / "target.npy", npyBytes("<f4", "(22, 1)", mtc::test::bytesOf(targets)));
  testing::internal::CaptureStderr();
  const auto results = run(StagePrograms(2, /*hasTasks=*/true), {3, "", ""}, /*timeout=*/0.3);
  const std::string messages = testing::internal::GetCapturedStderr();
  EXPECT_THAT(results[1].error, HasSubstr("2000"));
  EXPECT_EQ(results[0].abortedWith, exitSystemFault);
  EXPECT_THAT(messages,
              ContainsRegex("error: rank 0 \\(host .+\\): no answer for 0\\.3 s from rank 1 "
                            "\\(host .+\\) in step 1: message of backward /fc/Gemm from rank 1"));
}

} // namespace

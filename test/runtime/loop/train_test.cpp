// Tests whole runs of the handwritten sample: numbers, order of samples, resuming and messages.
#include "runtime/io/safetensors.h"
#include "runtime/state/initial_values.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mtc::test;
using mtc::runtime::SafetensorsFile;
using testing::HasSubstr;
using testing::Not;

namespace {

/// The tensor of a safetensors file.
std::vector<float> tensor(const std::string &path, const std::string &name) {
  SafetensorsFile file(path);
  const auto *array = file.find(name);
  EXPECT_NE(array, nullptr) << name;
  int64_t bytes = 4;
  for (int64_t dim : array->dims)
    bytes *= dim;
  std::vector<float> values(static_cast<size_t>(bytes / 4));
  mtc::runtime::readArray(*array, 0, reinterpret_cast<char *>(values.data()), bytes);
  return values;
}

/// Returns the data file of a checkpoint.
std::string checkpointFile(const std::string &folder) {
  return folder + "/" +
         nlohmann::json::parse(readFile(folder + "/manifest.json"))["file"].get<std::string>();
}

/// Trains the model of the sample in doubles.
struct Reference {
  double weight[3], bias = 0, momentum[4] = {};

  explicit Reference(const std::vector<float> &initial) {
    std::copy(initial.begin(), initial.end(), weight);
  }

  double predict(int64_t row) const {
    double y = bias;
    for (int64_t f = 0; f < 3; ++f)
      y += weight[f] * static_cast<double>(sampleX(row, f));
    return y;
  }
  double loss(const std::vector<int64_t> &rows) const {
    double sum = 0;
    for (int64_t row : rows)
      sum += std::pow(predict(row) - static_cast<double>(sampleTarget(row)), 2);
    return sum / static_cast<double>(rows.size());
  }
  void gradient(const std::vector<int64_t> &rows, double (&result)[4]) const {
    std::fill(result, result + 4, 0.0);
    for (int64_t row : rows) {
      double error = 2 * (predict(row) - static_cast<double>(sampleTarget(row))) / 4;
      for (int64_t f = 0; f < 3; ++f)
        result[f] += error * static_cast<double>(sampleX(row, f));
      result[3] += error;
    }
  }
  void step(const std::vector<int64_t> &rows) {
    double gradients[4];
    gradient(rows, gradients);
    for (int i = 0; i < 4; ++i) {
      momentum[i] = 0.9 * momentum[i] + gradients[i];
      (i < 3 ? weight[i] : bias) -= 0.01 * momentum[i];
    }
  }
};

class Train : public testing::Test {
protected:
  TemporaryFolder folder;

  void SetUp() override { writeSampleData(folder, 10); }

  RunResult run(const std::vector<std::string> &more, const MtcProgram &program = mtc_program) {
    return runHere(program, withData(folder, more));
  }
  /// The weights before the first step, to which the first gradients belong.
  std::vector<float> initialWeight() {
    EXPECT_EQ(run({"--steps", "1", "--no-shuffle", "--save", folder / "initial"}, frozen()).status,
              0);
    return tensor(checkpointFile(folder / "initial"), "fc.weight");
  }
  static MtcProgram frozen() {
    MtcProgram program = mtc_program;
    program.schedule.rate = 0;
    return program;
  }
};

TEST_F(Train, LossesAreThoseOfTheReference) {
  Reference reference(initialWeight());
  RunResult result = run({"--steps", "12", "--no-shuffle", "--metrics", folder / "m.jsonl"});
  ASSERT_EQ(result.status, 0) << result.error;
  std::vector<double> losses = readLosses(folder / "m.jsonl");
  ASSERT_EQ(losses.size(), 12u);
  for (int64_t step = 0; step < 12; ++step) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 4; ++i)
      rows.push_back((step * 4 + i) % 10); // Rows wrap inside a batch too.
    EXPECT_NEAR(losses[static_cast<size_t>(step)], reference.loss(rows), 1e-4)
        << "step " << step + 1;
    reference.step(rows);
  }
  EXPECT_THAT(result.output, HasSubstr("step 12/12"));
  EXPECT_THAT(result.output, Not(HasSubstr("\r")));
}

TEST_F(Train, OneEpochIsTheDefault) {
  ASSERT_EQ(run({"--metrics", folder / "m.jsonl"}).status, 0);
  EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 3u); // 10 rows in batches of 4
  ASSERT_EQ(run({"--metrics", folder / "m.jsonl", "--epochs", "2", "--quiet"}).output, "");
  EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 5u);
}

TEST_F(Train, ShufflingIsAFunctionOfTheSeed) {
  auto losses = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--steps", "6", "--metrics", folder / "m.jsonl"});
    EXPECT_EQ(run(flags).status, 0);
    return readLosses(folder / "m.jsonl");
  };
  auto standard = losses({}), again = losses({"--shuffle", "--seed", "0"}),
       other = losses({"--seed", "1"}), inOrder = losses({"--no-shuffle"});
  EXPECT_EQ(standard, again);
  EXPECT_NE(standard, other);
  EXPECT_NE(standard, inOrder);
}

TEST_F(Train, ThreadsDoNotChangeABit) {
  for (const char *threads : {"1", "2", "3"}) {
    std::vector<std::string> flags = sampleData(folder);
    flags.back() = threads;
    flags.insert(flags.end(), {"--steps", "9", "--save", folder / threads});
    ASSERT_EQ(runHere(mtc_program, flags).status, 0);
  }
  std::string one = readFile(checkpointFile(folder / "1"));
  EXPECT_EQ(one, readFile(checkpointFile(folder / "2")));
  EXPECT_EQ(one, readFile(checkpointFile(folder / "3")));
}

TEST_F(Train, GradientsOfTheFirstBatchWithoutUpdate) {
  Reference reference(initialWeight());
  ASSERT_EQ(run({"--gradients", folder / "g.safetensors", "--no-shuffle"}).status, 0);
  SafetensorsFile file(folder / "g.safetensors");
  EXPECT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.find("fc.weight")->dims, (std::vector<int64_t>{1, 3}));
  double expected[4];
  reference.gradient({0, 1, 2, 3}, expected);
  auto weight = tensor(folder / "g.safetensors", "fc.weight"),
       bias = tensor(folder / "g.safetensors", "fc.bias");
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(weight[i], expected[i], 1e-5);
  EXPECT_NEAR(bias[0], expected[3], 1e-5);
}

TEST_F(Train, EvaluationTakesEachRowOnce) {
  Reference reference(initialWeight());
  RunResult result = run({"--evaluate", "--metrics", folder / "m.jsonl"});
  ASSERT_EQ(result.status, 0) << result.error;
  std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  auto line = nlohmann::json::parse(readFile(folder / "m.jsonl"));
  EXPECT_NEAR(line["loss"].get<double>(), reference.loss(all), 1e-5);
  EXPECT_EQ(line["samples"], 10);
  EXPECT_THAT(result.output, HasSubstr("samples 10"));
}

TEST_F(Train, EvaluationByWholeBatchesSaysWhatItLeftOut) {
  Reference reference(initialWeight());
  MtcProgram program = mtc_program;
  program.row_metrics = {4, 0, nullptr};
  RunResult result = run({"--evaluate", "--metrics", folder / "m.jsonl"}, program);
  ASSERT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("last 2 samples"));
  auto line = nlohmann::json::parse(readFile(folder / "m.jsonl"));
  EXPECT_NEAR(line["loss"].get<double>(), reference.loss({0, 1, 2, 3, 4, 5, 6, 7}), 1e-5);
}

TEST_F(Train, OutputsForAllRowsWithoutLabels) {
  Reference reference(initialWeight());
  RunResult result = runHere(
      mtc_program, {"--data", "x=" + (folder / "x.npy"), "--outputs", folder / "o.safetensors"});
  ASSERT_EQ(result.status, 0) << result.error;
  auto y = tensor(folder / "o.safetensors", "y");
  ASSERT_EQ(y.size(), 10u);
  for (size_t row = 0; row < 10; ++row)
    EXPECT_NEAR(y[row], reference.predict(static_cast<int64_t>(row)), 1e-5);
  EXPECT_EQ(tensor(folder / "o.safetensors", "total").size(), 3u); // one per batch
}

TEST_F(Train, ExportIsTheModelWithNewWeights) {
  ASSERT_EQ(run({"--steps", "3", "--save", folder / "c", "--export", folder / "model.onnx",
                 "--export-training", folder / "training.onnx"})
                .status,
            0);
  std::string model = readFile(folder / "model.onnx");
  auto weight = tensor(checkpointFile(folder / "c"), "fc.weight"),
       bias = tensor(checkpointFile(folder / "c"), "fc.bias");
  std::string weights = "HEAD" + bytesOf(weight) + "BODY" + bytesOf(bias) + "TAIL";
  const std::string mark = "\x72\x11\n\nwritten_by\x12\x03mtc";
  EXPECT_EQ(model, mark + "INFERENCE" + weights);
  EXPECT_EQ(readFile(folder / "training.onnx"), mark + "TRAINING" + weights);
  // A checkpoint can be exported without data.
  ASSERT_EQ(
      runHere(mtc_program, {"--resume", folder / "c", "--export", folder / "again.onnx"}).status,
      0);
  EXPECT_EQ(model, readFile(folder / "again.onnx"));
  ASSERT_EQ(
      runHere(mtc_program, {"--resume", folder / "c", "--export-training", folder / "again.onnx"})
          .status,
      0);
  EXPECT_EQ(readFile(folder / "again.onnx"), mark + "TRAINING" + weights);
}

TEST_F(Train, WeightsOfAFile) {
  std::string header = R"({"fc.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]}})";
  writeFile(folder / "w.safetensors", safetensorsBytes(header, bytesOf<float>({1, -2, 0.5})));
  ASSERT_EQ(
      run({"--weights", folder / "w.safetensors", "--steps", "1", "--metrics", folder / "m.jsonl"})
          .status,
      0);
  EXPECT_NEAR(readLosses(folder / "m.jsonl")[0], 0.09, 1e-5); // only the bias of 0.3 is missing
  header = R"({"fc.weight":{"dtype":"F32","shape":[3,1],"data_offsets":[0,12]}})";
  writeFile(folder / "w.safetensors", safetensorsBytes(header, bytesOf<float>({1, -2, 0.5})));
  RunResult result = run({"--weights", folder / "w.safetensors"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("'fc.weight' is f32 [3, 1]; the program expects f32 [1, 3]"));
  writeFile(folder / "w.safetensors", safetensorsBytes("{}", ""));
  EXPECT_THAT(run({"--weights", folder / "w.safetensors"}).error,
              HasSubstr("none of the program's parameters"));
}

TEST_F(Train, MissingWeightsBesideTheProgram) {
  MtcProgram program = mtc_program;
  program.weights_file = "sample.safetensors";
  std::vector<MtcVariable> variables(program.variables, program.variables + program.variable_count);
  variables[0].initial = MTC_INITIAL_FILE;
  program.variables = variables.data();
  RunResult result = run({}, program);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("/nowhere/sample.safetensors"));
  EXPECT_THAT(result.error, HasSubstr("--weights"));
  writeFile(folder / "w.safetensors", safetensorsBytes("{}", ""));
  EXPECT_THAT(run({"--weights", folder / "w.safetensors"}, program).error,
              HasSubstr("'fc.weight' is missing"));
}

/// Writes data whose rows are not finite from row `first` on.
void writeDivergingData(const TemporaryFolder &folder, size_t first) {
  std::vector<float> target(10, 1);
  std::fill(target.begin() + static_cast<int64_t>(first), target.end(), std::nanf(""));
  writeFile(folder / "target.npy", npyBytes("<f4", "(10, 1)", bytesOf(target)));
}

TEST_F(Train, StopsAtTheFirstLossThatIsNotFinite) {
  writeDivergingData(folder, 8); // in the third batch
  for (const char *every : {"1", "2", "5"}) {
    std::string saved = folder / "c" + every;
    RunResult result = run({"--no-shuffle", "--steps", "9", "--save", saved, "--save-every", every,
                            "--export", folder / "m.onnx", "--metrics", folder / "m.jsonl"});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.error, HasSubstr("the loss of step 3 is nan"));
    EXPECT_FALSE(fileExists(folder / "m.onnx"));
    EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 3u);
    if (*every == '5') {
      EXPECT_THAT(result.error, HasSubstr("holds no checkpoint"));
      EXPECT_FALSE(fileExists(saved));
      continue;
    }
    EXPECT_THAT(result.error, HasSubstr("the checkpoint of step 2 is in " + saved));
    for (const char *name : {"fc.weight", "fc.bias", "fc.weight.momentum", "seen"})
      for (float value : tensor(checkpointFile(saved), name))
        EXPECT_TRUE(std::isfinite(value)) << name;
  }
  RunResult result = run({"--no-shuffle"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("nothing was saved"));
}

TEST_F(Train, NonFiniteLossWarnsOnceAndGoesOnIfAsked) {
  writeDivergingData(folder, 8);
  RunResult result = run({"--no-shuffle", "--steps", "8", "--metrics", folder / "m.jsonl", "--save",
                          folder / "c", "--export", folder / "m.onnx", "--on-nan", "continue"});
  EXPECT_EQ(result.status, 0);
  size_t first = result.error.find("warning: the loss of step 3 is nan");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(result.error.find("warning:", first + 1), std::string::npos);
  EXPECT_TRUE(std::isnan(readLosses(folder / "m.jsonl").back()));
  EXPECT_TRUE(std::isnan(tensor(checkpointFile(folder / "c"), "fc.bias")[0]));
  EXPECT_TRUE(fileExists(folder / "m.onnx"));
}

TEST_F(Train, WeightsThatAreNotFiniteAreNotSaved) {
  // The loss of the first step is finite, but its update is not; no loss has shown it yet.
  MtcProgram program = mtc_program;
  program.schedule.rate = std::numeric_limits<double>::infinity();
  RunResult result = run({"--steps", "1", "--save", folder / "c"}, program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("after step 1, 'fc.weight' holds values that are not"));
  EXPECT_FALSE(fileExists(folder / "c/manifest.json"));
  result = run({"--steps", "1", "--export", folder / "m.onnx"}, program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("m.onnx was not written"));
  EXPECT_FALSE(fileExists(folder / "m.onnx"));
}

TEST_F(Train, WhatWasNotFiniteBeforeTrainingMayBeSaved) {
  // The state resembles a mask: it contains -inf, and no loss depends on it.
  MtcProgram program = mtc_program;
  std::vector<MtcVariable> variables(program.variables, program.variables + program.variable_count);
  const float infinity = -std::numeric_limits<float>::infinity();
  variables[3].initial = MTC_INITIAL_DATA;
  variables[3].data = &infinity;
  program.variables = variables.data();
  RunResult result = run({"--steps", "2", "--save", folder / "c"}, program);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_TRUE(std::isinf(tensor(checkpointFile(folder / "c"), "seen")[0]));
}

TEST_F(Train, RunsWithoutUpdatesSayWhatIsNotFinite) {
  writeDivergingData(folder, 2);
  RunResult result = run({"--gradients", folder / "g.safetensors", "--no-shuffle"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("warning: the loss is nan"));
  EXPECT_THAT(result.error, HasSubstr("the gradient of 'fc.bias' holds values that are not"));
  EXPECT_THAT(run({"--evaluate"}).output, testing::StartsWith("loss nan"));
  writeDivergingData(folder, 9);
  MtcProgram program = mtc_program;
  program.row_metrics = {4, 0, nullptr};
  EXPECT_THAT(run({"--evaluate"}).error, HasSubstr("samples 8 to 9 (from 0) are the first"));
  EXPECT_EQ(run({"--evaluate"}, program).error.find("not finite"), std::string::npos);
  writeDivergingData(folder, 7);
  EXPECT_THAT(run({"--evaluate"}, program).error, HasSubstr("samples 4 to 7"));
}

TEST_F(Train, AFullDiskEndsTheRunWithItsName) {
  const std::vector<std::vector<std::string>> cases = {{"--export", folder / "m.onnx"},
                                                       {"--memory-report", folder / "r.json"},
                                                       {"--profile", folder / "p.json"},
                                                       {"--gradients", folder / "g.safetensors"},
                                                       {"--outputs", folder / "o.safetensors"},
                                                       {"--metrics", folder / "m.jsonl"},
                                                       {"--tensorboard", folder / "t"},
                                                       {"--report", folder / "r.html"},
                                                       {"--save", folder / "c"}};
  for (std::vector<std::string> flags : cases) {
    flags.push_back("--quiet");
    FileSizeLimit limit(5);
    RunResult result = run(flags);
    EXPECT_EQ(result.status, 2) << flags[0];
    // Written during training.
    if (flags[0] != "--metrics" && flags[0] != "--profile" && flags[0] != "--tensorboard")
      EXPECT_FALSE(fileExists(flags[1])) << flags[0];
  }
}

TEST_F(Train, OneFileThatCannotBeWrittenIsNoReasonToLeaveOutTheOthers) {
  RunResult result;
  {
    FileSizeLimit limit(200); // enough for messages and the model, not for the report
    result = run({"--quiet", "--memory-report", folder / "r.json", "--export", folder / "m.onnx"});
  }
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("r.json: cannot be written"));
  EXPECT_TRUE(fileExists(folder / "m.onnx"));
}

TEST_F(Train, EventsThatFailInTheMiddleLeaveWholeRecordsAndACheckpoint) {
  RunResult result;
  {
    FileSizeLimit limit(8192);
    result = run(
        {"--steps", "100000", "--tensorboard", folder / "t", "--save", folder / "c", "--quiet"});
  }
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("--tensorboard " + (folder / "t") + ": cannot be written"));
  EXPECT_TRUE(fileExists(folder / "c/manifest.json"));
  const std::vector<std::string> files = listFolder(folder / "t");
  ASSERT_EQ(files.size(), 1U);
  const std::string events = readFile(folder / "t" + "/" + files[0]);
  size_t at = 0, records = 0;
  for (uint64_t length = 0; at + sizeof length <= events.size(); ++records) {
    std::memcpy(&length, events.data() + at, sizeof length);
    at += sizeof length + 4 + length + 4; // two checksums
  }
  EXPECT_EQ(at, events.size());
  EXPECT_GT(records, 20U);
}

TEST_F(Train, MetricsThatFailInTheMiddleLeaveACheckpoint) {
  RunResult result;
  {
    FileSizeLimit limit(8192); // enough for a checkpoint
    result = run(
        {"--steps", "100000", "--metrics", folder / "m.jsonl", "--save", folder / "c", "--quiet"});
  }
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("--metrics " + (folder / "m.jsonl") + ": cannot be written"));
  // The file has only whole lines, and all steps of the checkpoint except the failed ones.
  const std::string lines = readFile(folder / "m.jsonl");
  EXPECT_EQ(lines.back(), '\n');
  const size_t written = readLosses(folder / "m.jsonl").size();
  const auto step = nlohmann::json::parse(readFile(folder / "c/manifest.json"))["step"];
  EXPECT_GT(written, 20u);
  EXPECT_GT(step.get<size_t>(), written);
  EXPECT_LE(step.get<size_t>(), written + 3);
  EXPECT_EQ(run({"--resume", folder / "c", "--steps", std::to_string(written + 5), "--metrics",
                 folder / "n.jsonl"})
                .status,
            0);
}

TEST_F(Train, StandardOutputThatCannotBeWritten) {
  RunResult result =
      runSample(withData(folder, {"--steps", "5", "--save", folder / "c"}), "/dev/full");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("standard output cannot be written: No space left"));
  EXPECT_TRUE(fileExists(folder / "c/manifest.json")); // It is worth more than what it prints.
  for (const std::vector<std::string> &flags : {std::vector<std::string>{"--evaluate"},
                                                {"--gradients", folder / "g"},
                                                {"--outputs", folder / "o"},
                                                {"--profile-summary"},
                                                {"--help"},
                                                {"--version"}})
    EXPECT_EQ(runSample(withData(folder, flags), "/dev/full").status, 2) << flags[0];
  EXPECT_EQ(runSample(withData(folder, {"--quiet"}), "/dev/full").status, 0);
}

TEST_F(Train, FaultOfAKernelNamesTheNode) {
  std::vector<float> target(10, 5000);
  writeFile(folder / "target.npy", npyBytes("<f4", "(10, 1)", bytesOf(target)));
  RunResult result = run({});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("/check/Gather: index 5000"));
  EXPECT_THAT(result.error, HasSubstr("-1000 to 999"));
}

TEST_F(Train, MemoryReportAndProfile) {
  ASSERT_EQ(
      run({"--steps", "2", "--memory-report", folder / "r.json", "--profile", folder / "p.json"})
          .status,
      0);
  auto report = nlohmann::json::parse(readFile(folder / "r.json"));
  EXPECT_EQ(report["arena_bytes"], mtc_program.arena_bytes);
  EXPECT_EQ(report["planned_bytes"], mtc_program.arena_bytes);
  EXPECT_GT(report["process_peak_bytes"], mtc_program.arena_bytes);
  auto trace = nlohmann::json::parse(readFile(folder / "p.json"));
  int gemms = 0;
  for (const auto &event : trace)
    gemms += event["name"] == "backward /fc/Gemm" &&
             event["args"]["kernel"].get<std::string>().rfind("contraction", 0) == 0;
  EXPECT_EQ(gemms, 2);
}

TEST_F(Train, SignalsFinishTheStepAndSave) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string saved = folder / std::to_string(signal), log = saved + ".jsonl";
    int process = startSample(withData(folder, {"--steps", "1000000000", "--save", saved,
                                                "--metrics", log, "--export", folder / "m.onnx"}));
    while (!fileExists(log) || readFile(log).empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(process, signal);
    int status = 0;
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    auto manifest = nlohmann::json::parse(readFile(saved + "/manifest.json"));
    EXPECT_EQ(manifest["step"].get<size_t>(), readLosses(log).size());
    EXPECT_FALSE(fileExists(folder / "m.onnx"));
  }
}

TEST_F(Train, DataThatShrinksLeavesACheckpoint) {
  writeSampleData(folder, 4000);
  const std::string saved = folder / "c", log = folder / "m.jsonl";
  const int process = startSample(withData(
      folder, {"--steps", "1000000000", "--no-shuffle", "--save", saved, "--metrics", log}));
  while (!fileExists(log) || readFile(log).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(truncate((folder / "x.npy").c_str(), 200), 0);
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const auto manifest = nlohmann::json::parse(readFile(saved + "/manifest.json"));
  EXPECT_EQ(manifest["step"].get<size_t>(), readLosses(log).size());
}

TEST_F(Train, AFolderOfSaveThatVanishesEndsTheRun) {
  const std::string saved = folder / "c", log = folder / "m.jsonl";
  const int process =
      startSample(withData(folder, {"--steps", "1000000000", "--save", saved, "--metrics", log}));
  while (!fileExists(log) || readFile(log).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (const std::string &name : listFolder(saved))
    unlink((saved + "/" + name).c_str());
  ASSERT_EQ(rmdir(saved.c_str()), 0);
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_FALSE(fileExists(saved));
}

class ScheduleOfRuns : public Train {
protected:
  MtcProgram program = mtc_program;

  void SetUp() override {
    Train::SetUp();
    program.schedule.kind = "linear";
  }
  RunResult run(const std::vector<std::string> &more) { return Train::run(more, program); }
  std::string model(const std::vector<std::string> &more) {
    std::vector<std::string> flags = {"--last-batch", "wrap", "--export", folder / "model.onnx"};
    flags.insert(flags.end(), more.begin(), more.end());
    RunResult result = run(flags);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return readFile(folder / "model.onnx");
  }
};

TEST_F(ScheduleOfRuns, GoesOnAcrossAPause) {
  std::string whole = model({"--steps", "10"});
  model({"--steps", "4", "--schedule-steps", "10", "--save", folder / "c"});
  model({"--steps", "6", "--resume", folder / "c", "--save", folder / "c"});
  EXPECT_EQ(model({"--steps", "10", "--resume", folder / "c"}), whole);
}

TEST_F(ScheduleOfRuns, ThatEndsBeforeTheRunIsRefused) {
  model({"--steps", "4", "--save", folder / "c"});
  RunResult result = run({"--resume", folder / "c", "--steps", "8"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("the learning rate is 0 after step 4"));
  EXPECT_THAT(result.error, HasSubstr("--schedule-steps 8: the rate of step 5 is then 0.005 and "
                                      "not 0"));
  EXPECT_EQ(run({"--resume", folder / "c", "--steps", "8", "--schedule-steps", "6"}).status, 1);
  result = run(
      {"--resume", folder / "c", "--steps", "8", "--schedule-steps", "8", "--save", folder / "c"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("warning: --schedule-steps 8: the learning rate of step 5"));
  EXPECT_THAT(run({"--resume", folder / "c", "--epochs", "4"}).error,
              HasSubstr("is 0 after step 8"));
  // A finished run, and a run that does not train, need no such check.
  EXPECT_EQ(run({"--resume", folder / "c", "--steps", "8"}).status, 0);
  EXPECT_EQ(run({"--resume", folder / "c", "--evaluate"}).status, 0);
  EXPECT_THAT(Train::run({"--schedule-steps", "8"}).error,
              HasSubstr("this program's schedule, constant, does not depend on where it ends"));
}

TEST_F(ScheduleOfRuns, LastStepTrains) {
  EXPECT_NE(model({"--steps", "1"}), model({"--steps", "2"}));
  RunResult one = run({"--steps", "1", "--metrics", folder / "m.jsonl"});
  EXPECT_EQ(one.status, 0) << one.error;
  EXPECT_THAT(readFile(folder / "m.jsonl"), Not(HasSubstr("\"lr\":0.0,")));
  program.schedule.warmup = 3;
  EXPECT_THAT(run({"--steps", "1", "--last-batch", "wrap"}).error,
              HasSubstr("warning: the learning rate of step 1, the only one of this run, is 0"));
  EXPECT_EQ(run({"--steps", "2", "--last-batch", "wrap"}).error, "");
}

TEST_F(ScheduleOfRuns, ThatEndsAtARateMayBeGoneBeyond) {
  program.schedule.min_rate = 1e-3;
  model({"--steps", "4", "--save", folder / "c"});
  const std::string metrics = folder / "m.jsonl";
  model({"--steps", "6", "--resume", folder / "c", "--metrics", metrics});
  std::istringstream lines(readFile(metrics));
  for (std::string line; std::getline(lines, line);)
    EXPECT_EQ(nlohmann::json::parse(line)["lr"], 1e-3);
}

} // namespace

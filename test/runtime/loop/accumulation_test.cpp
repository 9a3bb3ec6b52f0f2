// Tests steps of several micro-steps: samples, scalars, losses, gradients, and step counters.
#include "runtime/abi/cpu.h"
#include "runtime/io/safetensors.h"
#include "runtime/state/initial_values.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace mtc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr int64_t microSteps = 3, batch = 4, rows = 10;

/// The scalars that micro-steps read: `step` and `micro_step`.
std::vector<std::pair<int64_t, int64_t>> seen;

/// operands: gradients of weight and bias, loss, their sums, the number of targets, step,
/// micro-step
void addKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  auto floats = [&](int i) { return reinterpret_cast<float *>(operands[i]); };
  auto number = [&](int i) { return *reinterpret_cast<int64_t *>(operands[i]); };
  // Half of a micro-step's targets are valid.
  constexpr float part = 0.5F / microSteps;
  for (int i = 0; i < 3; ++i)
    floats(3)[i] += floats(0)[i] * part;
  floats(4)[0] += floats(1)[0] * part;
  *reinterpret_cast<double *>(operands[5]) += static_cast<double>(floats(2)[0] * part);
  *reinterpret_cast<double *>(operands[6]) += batch;
  seen.emplace_back(number(7), number(8));
}

/// operands: sums of the gradients, of losses and targets, gradients of weight and bias
void takeKernel(char *const *operands, int64_t, int64_t, MtcFault *) {
  auto floats = [&](int i) { return reinterpret_cast<float *>(operands[i]); };
  auto *count = reinterpret_cast<double *>(operands[3]);
  const auto factor = static_cast<float>(2 * microSteps * batch / *count);
  for (int i = 0; i < 3; ++i)
    floats(4)[i] = std::exchange(floats(0)[i], 0.0F) * factor;
  floats(5)[0] = std::exchange(floats(1)[0], 0.0F) * factor;
  *reinterpret_cast<double *>(operands[2]) = *count = 0;
}

/// The sample with micro-steps that accumulate into sums after its arena. Its update reads these
/// sums.
class AccumulatingProgram {
public:
  AccumulatingProgram() {
    const int64_t end = program.arena_bytes;
    const int64_t weightSum = end, biasSum = end + 64, lossSum = end + 128, count = end + 192,
                  micro = end + 256;
    program.arena_bytes = end + 320;
    program.accumulation = {microSteps, lossSum, count, -1, -1, 2.0 * microSteps * batch};
    program.scalars.micro_step = micro;
    const MtcVariable *gradients[] = {find("fc.weight.grad"), find("fc.bias.grad")};
    const int64_t weightGradient = gradients[0]->tensor.offset,
                  biasGradient = gradients[1]->tensor.offset;
    added = {weightGradient, biasGradient, program.micro_step_loss, weightSum, biasSum,
             lossSum,        count,        program.scalars.step,    micro};
    taken = {weightSum, biasSum, lossSum, count, weightGradient, biasGradient};
    kernels.assign(program.kernels, program.kernels + program.kernel_count);
    kernels.push_back({"add", &code[0], 0, 0, 0, 0});
    kernels.push_back({"take", &code[1], 0, 0, 0, 0});
    functions.assign(program.functions, program.functions + program.function_count);
    MtcFunction &microStep = functions[program.micro_step.functions[0]];
    MtcFunction &update = functions[program.update.functions[0]];
    micros.assign(microStep.operations, microStep.operations + microStep.operation_count);
    micros.push_back(launch(program.kernel_count, added));
    updates = {launch(program.kernel_count + 1, taken)};
    updates.insert(updates.end(), update.operations, update.operations + update.operation_count);
    variables.assign(program.variables, program.variables + program.variable_count);
    for (MtcVariable &variable : variables)
      if (variable.role == MTC_GRADIENT)
        variable.tensor.offset = variable.of == 0 ? weightSum : biasSum;
    program.kernels = kernels.data();
    program.kernel_count = static_cast<uint32_t>(kernels.size());
    microStep = {static_cast<uint32_t>(micros.size()), micros.data()};
    update = {static_cast<uint32_t>(updates.size()), updates.data()};
    program.functions = functions.data();
    program.variables = variables.data();
  }

  MtcProgram program = mtc_program;

private:
  static const MtcVariable *find(const std::string &name) {
    for (uint32_t i = 0; i < mtc_program.variable_count; ++i)
      if (name == mtc_program.variables[i].tensor.name)
        return &mtc_program.variables[i];
    return nullptr;
  }
  static MtcOperation launch(uint32_t kernel, const std::vector<int64_t> &operands) {
    MtcOperation operation = {};
    operation.kind = MTC_LAUNCH;
    operation.index = kernel;
    operation.operand_count = static_cast<uint32_t>(operands.size());
    operation.operands = operands.data();
    operation.nodes = "sums";
    return operation;
  }

  MtcCpuStage stages[2] = {{addKernel, 1, 1}, {takeKernel, 1, 1}};
  MtcCpuKernel code[2] = {{1, &stages[0]}, {1, &stages[1]}};
  std::vector<MtcKernel> kernels;
  std::vector<MtcOperation> micros, updates;
  std::vector<MtcFunction> functions;
  std::vector<MtcVariable> variables;
  std::vector<int64_t> added, taken;
};

class LongSteps : public testing::Test {
protected:
  /// Trains until a signal arrives after `milliseconds`.
  RunResult runUntilSignal(const MtcProgram &program, int milliseconds) {
    std::thread sender([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      kill(getpid(), SIGTERM);
    });
    const RunResult result =
        runHere(program,
                withData(folder, {"--steps", "3", "--save", folder / "c", "--last-batch", "wrap"}));
    sender.join();
    return result;
  }

  TemporaryFolder folder;
};

TEST_F(LongSteps, EndAtASignalBeforeTheirUpdate) {
  writeSampleData(folder, rows);
  AccumulatingProgram accumulating;
  accumulating.program.accumulation.micro_steps = int64_t{1} << 40;
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = runUntilSignal(accumulating.program, 300);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(result.status, 128 + SIGTERM);
  EXPECT_THAT(result.error, HasSubstr("SIGTERM: stopped after step 0 of 3"));
  EXPECT_FALSE(fileExists(folder / "c/manifest.json"));
  seen.clear();
}

/// Linear regression on batches of any size, in doubles.
struct Reference {
  double weight[3], bias = 0, momentum[4] = {};

  double error(int64_t row) const {
    double y = bias - static_cast<double>(sampleTarget(row));
    for (int64_t f = 0; f < 3; ++f)
      y += weight[f] * static_cast<double>(sampleX(row, f));
    return y;
  }
  /// The losses are computed with the weights before the update.
  double step(const std::vector<int64_t> &taken) {
    double gradients[4] = {}, loss = 0;
    const auto count = static_cast<double>(taken.size());
    for (int64_t row : taken) {
      const double e = error(row);
      loss += e * e / count;
      for (int64_t f = 0; f < 3; ++f)
        gradients[f] += 2 * e / count * static_cast<double>(sampleX(row, f));
      gradients[3] += 2 * e / count;
    }
    for (int i = 0; i < 4; ++i) {
      momentum[i] = 0.9 * momentum[i] + gradients[i];
      (i < 3 ? weight[i] : bias) -= 0.01 * momentum[i];
    }
    return loss;
  }
};

class Accumulation : public testing::Test {
protected:
  TemporaryFolder folder;
  AccumulatingProgram accumulating;

  void SetUp() override {
    writeSampleData(folder, rows);
    seen.clear();
  }
  RunResult run(std::vector<std::string> more) {
    more.insert(more.begin(), "--no-shuffle");
    return runHere(accumulating.program, withData(folder, more));
  }
  std::vector<double> lossesOf(std::vector<std::string> more) {
    more.insert(more.end(), {"--metrics", folder / "m.jsonl"});
    const RunResult result = run(more);
    EXPECT_EQ(result.status, 0) << result.error;
    return readLosses(folder / "m.jsonl");
  }
  std::vector<float> floatsOf(const std::string &file, const std::string &name) {
    mtc::runtime::SafetensorsFile tensors(file);
    const auto *array = tensors.find(name);
    std::vector<float> values(name == "fc.weight" ? 3 : 1);
    mtc::runtime::readArray(*array, 0, reinterpret_cast<char *>(values.data()),
                            static_cast<int64_t>(values.size() * 4));
    return values;
  }
  std::string dataOf(const std::string &checkpoint) {
    const auto manifest = nlohmann::json::parse(readFile(checkpoint + "/manifest.json"));
    return checkpoint + "/" + manifest["file"].get<std::string>();
  }
  /// The gradients are those of the program's initial weights.
  Reference reference() {
    AccumulatingProgram still;
    still.program.schedule.rate = 0;
    EXPECT_EQ(
        runHere(still.program, withData(folder, {"--steps", "1", "--save", folder / "i"})).status,
        0);
    const std::vector<float> initial = floatsOf(dataOf(folder / "i"), "fc.weight");
    seen.clear();
    Reference result;
    std::copy(initial.begin(), initial.end(), result.weight);
    return result;
  }
  static std::vector<int64_t> batchInputs(int64_t step) {
    std::vector<int64_t> taken(microSteps * batch);
    for (size_t i = 0; i < taken.size(); ++i)
      taken[i] = (step * microSteps * batch + static_cast<int64_t>(i)) % rows;
    return taken;
  }
};

TEST_F(Accumulation, LossesAreThoseOfTheLargeBatch) {
  Reference expected = reference();
  const std::vector<double> losses = lossesOf({"--steps", "12"});
  ASSERT_EQ(losses.size(), 12U);
  for (int64_t step = 0; step < 12; ++step)
    EXPECT_NEAR(losses[static_cast<size_t>(step)], expected.step(batchInputs(step)), 1e-4) << step;
}

TEST_F(Accumulation, MicroStepsAreNumbered) {
  ASSERT_EQ(run({"--steps", "2"}).status, 0);
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_THAT(seen,
              ElementsAre(Pair(1, 0), Pair(1, 1), Pair(1, 2), Pair(2, 0), Pair(2, 1), Pair(2, 2)));
}

TEST_F(Accumulation, StepsAndEpochsCountUpdates) {
  const RunResult result = run({"--epochs", "2", "--metrics", folder / "m.jsonl"});
  EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 2U); // 20 rows, 12 a step.
  EXPECT_THAT(result.output, HasSubstr("step 2/2"));
  EXPECT_THAT(result.error, HasSubstr("has 10 samples and a batch has 12 (3 of 4: --accumulate)"));
}

TEST_F(Accumulation, ReadsAheadAndNotAtTheSameLosses) {
  const std::vector<double> ahead = lossesOf({"--steps", "5"});
  accumulating.program.staging = 0;
  EXPECT_EQ(lossesOf({"--steps", "5"}), ahead);
}

TEST_F(Accumulation, DropNeedsTheRowsOfAStep) {
  const RunResult result = run({"--last-batch", "drop"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("the data has 10 samples and a batch has 12 (3 of 4: "
                                      "--accumulate); compile for a smaller batch"));
}

TEST_F(Accumulation, GradientsAreThoseOfAStep) {
  Reference expected = reference();
  ASSERT_EQ(run({"--gradients", folder / "g.safetensors"}).status, 0);
  const double loss = expected.step(batchInputs(0));
  const std::vector<float> weight = floatsOf(folder / "g.safetensors", "fc.weight"),
                           bias = floatsOf(folder / "g.safetensors", "fc.bias");
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(weight[i]), expected.momentum[i], 1e-5);
  EXPECT_NEAR(static_cast<double>(bias[0]), expected.momentum[3], 1e-5);
  EXPECT_THAT(run({"--gradients", folder / "g.safetensors"}).output,
              HasSubstr("loss " + std::to_string(loss).substr(0, 6)));
}

TEST_F(Accumulation, ResumesToTheSameBits) {
  ASSERT_EQ(run({"--steps", "7", "--save", folder / "whole"}).status, 0);
  ASSERT_EQ(run({"--steps", "3", "--save", folder / "part"}).status, 0);
  ASSERT_EQ(run({"--steps", "7", "--resume", folder / "part", "--save", folder / "part"}).status,
            0);
  EXPECT_EQ(readFile(dataOf(folder / "whole")), readFile(dataOf(folder / "part")));
}

TEST_F(Accumulation, EvaluatesMicroBatches) {
  const RunResult result = run({"--evaluate"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.output, HasSubstr("samples 10"));
}

TEST_F(Accumulation, ProfilesWholeSteps) {
  const RunResult result =
      run({"--steps", "2", "--quiet", "--profile-summary=" + (folder / "p.json")});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto summary = nlohmann::json::parse(readFile(folder / "p.json"));
  EXPECT_EQ(summary["steps"], 2);
  EXPECT_THAT(readFile(folder / "p.json"), HasSubstr("\"calls\": 3"));
}

TEST_F(Accumulation, HelpNamesBothSizes) {
  EXPECT_THAT(run({"--help"}).output, HasSubstr("batch 3 x 4"));
}

} // namespace

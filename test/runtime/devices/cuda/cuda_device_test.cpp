// Tests errors, delayed errors and synchronization of the target `cuda`.
#include "runtime/abi/attention.h"
#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/architecture.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/cuda/emulated/streams.h"
#include "runtime/devices/gpu/handles.h"
#include "runtime/run_program.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

class CudaDevice : public testing::Test {
protected:
  TemporaryFolder folder;

  void SetUp() override { writeSampleData(folder, 10); }

  RunResult run(const std::vector<std::string> &more, const MtcProgram &program = mtc_program) {
    return runHere(program, withData(folder, more));
  }
};

TEST_F(CudaDevice, TooLittleMemoryIsAFaultOfTheSystem) {
  setenv("MTC_EMULATED_MEMORY", "1000000", 1);
  RunResult result = run({});
  unsetenv("MTC_EMULATED_MEMORY");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("needs " + std::to_string(mtc_program.arena_bytes)));
  EXPECT_THAT(result.error, HasSubstr("1000000 bytes (0 MiB) of the emulated GPU are free"));
}

TEST_F(CudaDevice, TooLittleHostMemoryIsAFaultOfTheSystem) {
  MtcProgram program = mtc_program;
  program.pinned_host_arena_bytes = int64_t{1} << 50;
  RunResult result = run({}, program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error,
              HasSubstr("needs 1125899906842624 bytes (1073741824 MiB) of pinned host "
                        "memory, planned when it was compiled; "));
  EXPECT_THAT(result.error, HasSubstr(" MiB) are available without swap; "));
}

TEST_F(CudaDevice, IsOneThatExists) {
  EXPECT_EQ(run({"--device", "0"}).status, 0);
  for (const char *wrong : {"1", "-1", "cpu", "0x"}) {
    RunResult result = run({"--device", wrong});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error,
                HasSubstr(std::string("--device ") + wrong + ": expected the number of a GPU"));
  }
}

TEST_F(CudaDevice, DriverMustBeAsNewAsTheCode) {
  MtcProgram program = mtc_program;
  MtcCudaProgram data = *static_cast<const MtcCudaProgram *>(program.target_data);
  data.driver_version = 14020;
  program.target_data = &data;
  RunResult result = run({}, program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error,
              HasSubstr("is for CUDA 13.0; this program's code needs one for CUDA 14.2"));
}

/// Runs the sample as a program for these GPU architectures on the emulated GPU (sm_90).
RunResult runFor(const std::vector<MtcCudaArchitecture> &architectures,
                 const std::vector<std::string> &arguments) {
  MtcProgram program = mtc_program;
  MtcCudaProgram data = *static_cast<const MtcCudaProgram *>(program.target_data);
  data.is_emulated = 0;
  data.image_count = 1;
  data.architecture_count = static_cast<uint32_t>(architectures.size());
  data.architectures = architectures.data();
  program.target_data = &data;
  return runHere(program, arguments);
}

TEST_F(CudaDevice, MustHaveCode) {
  RunResult result =
      runFor({{8, 0, MTC_CUBIN, nullptr}, {8, 6, MTC_CUBIN, nullptr}, {10, 0, MTC_PTX, nullptr}},
             withData(folder, {}));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error,
              HasSubstr("this program has code for sm_80, sm_86, compute_100, and the emulated "
                        "GPU is sm_90; compile it again with sm_90 added to --target, or with "
                        "compute_86, which all later GPUs run, too"));
}

TEST_F(CudaDevice, TakesPtxOfAnEarlierArchitecture) {
  const char text[] = ".version 7.0";
  const MtcGpuImage images[] = {{text, sizeof text}};
  RunResult result =
      runFor({{8, 0, MTC_CUBIN, nullptr}, {8, 0, MTC_PTX, images}}, withData(folder, {}));
  EXPECT_EQ(result.status, 2); // The emulated driver compiles none.
  EXPECT_THAT(result.error, HasSubstr("the driver cannot compile the program's PTX: the emulated "
                                      "device runs no code of a GPU"));
}

TEST_F(CudaDevice, CodeOfTheLatestArchitectureThatRunsIsTaken) {
  const MtcCudaArchitecture all[] = {{8, 0, MTC_CUBIN, nullptr},
                                     {8, 6, MTC_CUBIN, nullptr},
                                     {9, 0, MTC_CUBIN, nullptr},
                                     {9, 0, MTC_EXACT_CUBIN, nullptr}};
  MtcCudaProgram program = {0, 0, 0, 1, 4, all, nullptr};
  EXPECT_EQ(chooseArchitecture(program, 8, 0), &all[0]);
  EXPECT_EQ(chooseArchitecture(program, 8, 9), &all[1]);
  EXPECT_EQ(chooseArchitecture(program, 9, 0), &all[3]);
  EXPECT_EQ(chooseArchitecture(program, 9, 1), &all[2]);
  EXPECT_EQ(chooseArchitecture(program, 10, 0), nullptr);
  EXPECT_EQ(chooseArchitecture(program, 7, 5), nullptr);
}

TEST_F(CudaDevice, PtxIsTakenWhereNoMachineCodeRuns) {
  const MtcCudaArchitecture all[] = {{8, 6, MTC_PTX, nullptr},
                                     {10, 0, MTC_PTX, nullptr},
                                     {8, 0, MTC_CUBIN, nullptr},
                                     {9, 0, MTC_EXACT_CUBIN, nullptr}};
  MtcCudaProgram program = {0, 0, 0, 1, 4, all, nullptr};
  EXPECT_EQ(chooseArchitecture(program, 8, 0), &all[2]);
  EXPECT_EQ(chooseArchitecture(program, 8, 9), &all[2]); // although the PTX is for a later one
  EXPECT_EQ(chooseArchitecture(program, 9, 0), &all[3]);
  EXPECT_EQ(chooseArchitecture(program, 9, 1), &all[0]);
  EXPECT_EQ(chooseArchitecture(program, 10, 0), &all[1]);
  EXPECT_EQ(chooseArchitecture(program, 12, 1), &all[1]);
  EXPECT_EQ(chooseArchitecture(program, 7, 5), nullptr);
}

TEST_F(CudaDevice, WithoutALibraryAMessageNamesTheNodes) {
  MtcProgram program = mtc_program;
  std::vector<MtcCall> calls(program.calls, program.calls + program.call_count);
  calls[1].kind = MTC_ATTENTION;
  program.calls = calls.data();
  RunResult result = run({}, program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error,
              HasSubstr("backward /fc/Gemm: no library of this target computes attention"));
}

TEST_F(CudaDevice, AFaultComesBeforeACheckpoint) {
  std::vector<float> target(10, 1);
  target[6] = 5000; // in the second batch
  writeFile(folder / "target.npy", npyBytes("<f4", "(10, 1)", bytesOf(target)));
  RunResult result =
      run({"--no-shuffle", "--steps", "5", "--save", folder / "c", "--save-every", "1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("/check/Gather: index 5000"));
  EXPECT_EQ(nlohmann::json::parse(readFile(folder / "c/manifest.json"))["step"], 1);
  // Without checkpoints, the error is reported with the metrics of its step.
  ASSERT_EQ(run({"--no-shuffle", "--steps", "5", "--metrics", folder / "m.jsonl"}).status, 1);
  EXPECT_EQ(readLosses(folder / "m.jsonl").size(), 1u);
}

TEST_F(CudaDevice, StagingAndProfilesLeaveTheBitsAsTheyAre) {
  auto model = [&](const MtcProgram &program, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--steps", "9", "--export", folder / "model.onnx"});
    RunResult result = run(flags, program);
    EXPECT_EQ(result.status, 0) << result.error;
    return readFile(folder / "model.onnx");
  };
  MtcProgram direct = mtc_program;
  direct.staging = 0;
  std::string staged = model(mtc_program, {});
  EXPECT_EQ(staged, model(direct, {}));
  EXPECT_EQ(staged, model(mtc_program, {"--profile", folder / "p.json"}));
}

TEST_F(CudaDevice, ProfileSummaryMeasuresTheDevice) {
  setenv("MTC_EMULATED_MEMORY", "268435456", 1);
  RunResult result = run({"--steps", "3", "--quiet", "--profile-summary=" + (folder / "s.json")});
  unsetenv("MTC_EMULATED_MEMORY");
  ASSERT_EQ(result.status, 0) << result.error;
  auto summary = nlohmann::json::parse(readFile(folder / "s.json"));
  EXPECT_EQ(summary["steps"], 3);
  EXPECT_EQ(summary["rows"].size(), mtc_program.kernel_count + mtc_program.call_count);
  EXPECT_GT(summary["machine"]["copy_bytes_per_second"].get<double>(), 0);
  EXPECT_GT(summary["machine"]["contraction_flops_per_second"]["f32"].get<double>(), 0);
}

TEST_F(CudaDevice, MemoryReportHasTheDevice) {
  ASSERT_EQ(run({"--steps", "2", "--memory-report", folder / "r.json"}).status, 0);
  auto report = nlohmann::json::parse(readFile(folder / "r.json"));
  EXPECT_EQ(report["arena_bytes"], mtc_program.arena_bytes);
  std::map<std::string, int64_t> outside;
  for (const auto &use : report["outside_arena"])
    outside[use["name"]] = use["bytes"];
  EXPECT_EQ(outside.at("GPU: code, graphs and libraries"), 3 * sizeof(MtcFault)); // the records
  EXPECT_GT(outside.at("pinned memory of the host"), 0);
}

TEST_F(CudaDevice, WhatTheDriverReportsEndsTheRun) {
  // A copy from outside the arena fails. Afterwards the driver rejects all calls, like a real
  // driver.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  MtcProgram program = mtc_program;
  std::vector<MtcFunction> functions(program.functions, program.functions + program.function_count);
  MtcFunction &microStep = functions[program.micro_step.functions[0]];
  std::vector<MtcOperation> operations(microStep.operations,
                                       microStep.operations + microStep.operation_count);
  const int64_t beyond[] = {program.arena_bytes, 0};
  MtcOperation &copy = operations.emplace_back();
  copy.kind = MTC_COPY;
  copy.operand_count = 2;
  copy.operands = beyond;
  copy.bytes = 64;
  copy.nodes = "/copy/Identity";
  microStep = {static_cast<uint32_t>(operations.size()), operations.data()};
  program.functions = functions.data();
  EXPECT_EXIT(
      {
        std::exit(mtc::runtime::runProgram(program, "/nowhere/sample",
                                           withData(folder, {"--save", folder / "c"})));
      },
      testing::ExitedWithCode(2), "the GPU failed while it ran the program: .*LAUNCH_FAILED");
  EXPECT_FALSE(fileExists(folder / "c/manifest.json"));
}

TEST_F(CudaDevice, WithoutADriverTheProgramSaysSo) {
  if (dlopen("libcuda.so.1", RTLD_NOW))
    GTEST_SKIP() << "this machine has a driver";
  RunResult result = runProgramFile(besideThisTest(MTC_NATIVE_SAMPLE), withData(folder, {}));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error,
              HasSubstr("no NVIDIA driver is installed here (looked for libcuda.so.1"));
  EXPECT_EQ(runProgramFile(besideThisTest(MTC_NATIVE_SAMPLE), {"--help"}).status, 0);
}

TEST(Streams, WorkRunsWhereItIsWaitedFor) {
  const Driver &driver = openDriver();
  OwnedStream first(driver), second(driver);
  OwnedEvent event(driver);
  DeviceMemory memory(driver, 4);
  int32_t in = 1, out = 0;
  driver.copyToDevice(memory.address(), &in, 4, first);
  driver.recordEvent(event, first);
  driver.copyToDevice(memory.address(), &in, 4, first);
  driver.letStreamWait(second, event, 0);
  driver.copyToHost(&out, memory.address(), 4, second);
  in = 2; // Nothing has waited for the first copy yet.
  EXPECT_EQ(driver.waitForStream(second), success);
  EXPECT_EQ(out, 2);
  in = 3; // The second copy comes after the event.
  EXPECT_EQ(driver.waitForStream(first), success);
  driver.copyToHost(&out, memory.address(), 4, second);
  EXPECT_EQ(out, 2);
  EXPECT_EQ(driver.waitForStream(second), success);
  EXPECT_EQ(out, 3);
}

TEST(Streams, AGraphRunsWhatWasCapturedEachTime) {
  const Driver &driver = openDriver();
  OwnedStream stream(driver);
  DeviceMemory memory(driver, 8);
  int32_t values[2] = {5, 0};
  driver.beginCapture(stream, relaxedCapture);
  driver.copyToDevice(memory.address(), values, 4, stream);
  driver.copyToHost(values + 1, memory.address(), 4, stream);
  Graph graph = nullptr;
  driver.endCapture(stream, &graph);
  EXPECT_EQ(values[1], 0);
  ExecutableGraph executable = nullptr;
  driver.instantiate(&executable, graph, 0);
  driver.destroyGraph(graph);
  for (int32_t value : {7, 9}) {
    values[0] = value;
    driver.launchGraph(executable, stream);
    EXPECT_EQ(driver.waitForStream(stream), success);
    EXPECT_EQ(values[1], value);
  }
  driver.destroyExecutable(executable);
}

/// A graph copies on a second stream. The first stream waits for the copy before the next
/// operation, or does not wait.
class ForkedGraph {
public:
  void capture(bool isJoinedEarly) {
    driver.beginCapture(first, relaxedCapture);
    driver.copyToDevice(memory.address(), &in, 4, first);
    driver.recordEvent(begin, first);
    driver.letStreamWait(second, begin, 0);
    driver.copyToHost(&copied, memory.address(), 4, second);
    driver.recordEvent(end, second);
    if (isJoinedEarly)
      driver.letStreamWait(first, end, 0);
    driver.fillBytes(memory.address(), 0, 4, first);
    driver.letStreamWait(first, end, 0);
  }

  void run() {
    Graph graph = nullptr;
    ASSERT_EQ(driver.endCapture(first, &graph), success);
    ExecutableGraph executable = nullptr;
    driver.instantiate(&executable, graph, 0);
    driver.destroyGraph(graph);
    for (in = 4; in < 6; ++in) {
      driver.launchGraph(executable, first);
      EXPECT_EQ(driver.waitForStream(first), success);
    }
    driver.destroyExecutable(executable);
  }

  const Driver &driver = openDriver();
  OwnedStream first{driver}, second{driver};
  OwnedEvent begin{driver}, end{driver};
  DeviceMemory memory{driver, 4};
  int32_t in = 0, copied = -1;
};

TEST(Streams, AGraphsBranchRunsWhereItIsWaitedFor) {
  ForkedGraph graph;
  graph.capture(/*isJoinedEarly=*/true);
  graph.run();
  EXPECT_EQ(graph.copied, 5);
  // Without the wait, the copied memory is overwritten.
  ForkedGraph late;
  late.capture(/*isJoinedEarly=*/false);
  late.run();
  EXPECT_EQ(late.copied, 0);
}

TEST(Streams, AGraphsBranchMustBeWaitedFor) {
  ForkedGraph graph;
  graph.capture(/*isJoinedEarly=*/true);
  graph.driver.letStreamWait(graph.second, graph.begin, 0);
  graph.driver.copyToHost(&graph.copied, graph.memory.address(), 4, graph.second);
  Graph captured = nullptr;
  EXPECT_NE(graph.driver.endCapture(graph.first, &captured), success);
}

} // namespace

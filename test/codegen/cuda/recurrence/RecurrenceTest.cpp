//===- RecurrenceTest.cpp - Recurrent layers on an emulated GPU, against those of the CPU -----===//

#include "runtime/calls/recurrence/cpu/recurrence.h"
#include "codegen/Jit.h"
#include "codegen/cuda/DeviceCall.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/emulated/Emulation.h"
#include "runtime/abi/cuda_library_call.h"
#include "runtime/devices/cuda/call.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/gpu/handles.h"

#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"

#include <cmath>
#include <random>

using namespace mtc;
using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;

namespace {

struct Case {
  RecurrentCell cell;
  int64_t steps, batch, hidden;
  bool isReversed = false;
};

/// Sizes include one row, one step and one unit, and more or fewer elements than a block has
/// threads.
constexpr Case cases[] = {
    {RecurrentCell::Lstm, 3, 2, 5},          {RecurrentCell::Lstm, 1, 1, 17, true},
    {RecurrentCell::Lstm, 2, 7, 33},         {RecurrentCell::Gru, 3, 2, 5, true},
    {RecurrentCell::Gru, 1, 3, 1},           {RecurrentCell::Gru, 2, 9, 35},
    {RecurrentCell::GruResetAfter, 3, 2, 5}, {RecurrentCell::GruResetAfter, 2, 9, 17, true},
    {RecurrentCell::Tanh, 4, 3, 66},         {RecurrentCell::Relu, 3, 5, 7, true}};

MtcRecurrence recordOf(const Case &c, uint32_t type) {
  MtcRecurrence p = {};
  p.type = type;
  p.cell = static_cast<uint32_t>(c.cell);
  p.is_reversed = c.isReversed;
  p.steps = c.steps;
  p.batch = c.batch;
  p.hidden = c.hidden;
  return p;
}

CallAttrInterface describe(const MtcRecurrence &p, bool isGradient) {
  static mlir::MLIRContext context;
  context.loadDialect<MtcDialect>();
  if (isGradient)
    return RecurrenceGradientCallAttr::get(&context, p);
  return RecurrenceCallAttr::get(&context, p);
}

/// The operands and results of a call. Elements are in (0, 1), like the values of gates.
template <typename Element> struct Tensors {
  std::vector<std::vector<Element>> operands, results;

  Tensors(CallAttrInterface call, const MtcRecurrence &p) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0.05, 0.95);
    auto fill = [&](std::vector<Element> &values, double scale) {
      for (Element &value : values)
        value = static_cast<Element>(scale * uniform(random));
    };
    CallShapes shapes = call.getShapes();
    for (const CallShapes::Shape &shape : shapes.operands)
      operands.emplace_back(*shape.elements);
    for (const CallShapes::Shape &shape : shapes.results)
      results.emplace_back(*shape.elements, Element(NAN));
    for (auto [i, operand] : llvm::enumerate(operands))
      fill(operand, i + p.is_in_place == 1 ? 1 / std::sqrt(double(p.hidden)) : 1);
    if (p.is_in_place)
      fill(results.front(), 1);
  }
};

template <typename Element>
void runOnCpu(const MtcRecurrence &p, bool isGradient, Tensors<Element> &tensors) {
  auto call = runtime::createRecurrence(p, isGradient, 1, runtime::machineVectors());
  ASSERT_TRUE(call);
  std::vector<char *> buffers;
  for (auto *all : {&tensors.operands, &tensors.results})
    for (std::vector<Element> &each : *all)
      buffers.push_back(reinterpret_cast<char *>(each.data()));
  std::vector<char> scratch(call->scratchBytes() + MTC_ALIGNMENT);
  char *aligned =
      scratch.data() + MTC_ALIGNMENT - reinterpret_cast<uintptr_t>(scratch.data()) % MTC_ALIGNMENT;
  call->run(buffers.data(), aligned);
}

/// The device code of a call, compiled for the emulator.
class EmulatedCode {
public:
  EmulatedCode(CallAttrInterface call, const cuda::DeviceCall &plan)
      : jit(llvm::cantFail(createJit(processor))) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = llvm::cantFail(cuda::buildDeviceCall(call, plan, *context));
    llvm::cantFail(cuda::emulateDeviceModule(*module, 3));
    auto machine = llvm::cantFail(cpu::createTargetMachine(processor, 3));
    cpu::optimize(*module, *machine, 1);
    llvm::cantFail(
        jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
    for (const gpu::Launch &launch : plan.launches()) {
      auto function = llvm::cantFail(jit->lookup(cuda::emulatedSymbol(launch.symbol)));
      launches.push_back({"cell",
                          function.toPtr<MtcEmulatedFunction>(),
                          {uint32_t(launch.grid[0]), 1, 1},
                          {uint32_t(launch.block[0]), 1, 1},
                          0});
    }
    kernel = {0, uint32_t(launches.size()), launches.data()};
  }

  MtcGpuKernel kernel;

private:
  cpu::Processor processor = llvm::cantFail(cpu::describeProcessor("host", ""));
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<MtcGpuLaunch> launches;
};

/// Runs a call with the planned scratch memory. The emulator reports reads of undefined elements
/// and accesses to other memory.
template <typename Element>
void runOnDevice(MtcRecurrence p, bool isGradient, Tensors<Element> &tensors) {
  CallAttrInterface attribute = describe(p, isGradient);
  auto plan = cuda::planDeviceCall(attribute);
  ASSERT_TRUE(plan);
  EmulatedCode code(attribute, *plan);
  const char *kind = isGradient ? MTC_RECURRENCE_GRADIENT : MTC_RECURRENCE;
  const MtcCall call = {.kind = kind,
                        .description = &p,
                        .scratch_bytes = mtc_cuda_call_scratch_bytes(kind, &p),
                        .flops = 0,
                        .bytes = 0,
                        .code = &code.kernel};

  Gpu gpu(openDriver(), "");
  KernelImages images(gpu, {});
  Libraries libraries;
  OwnedStream stream(gpu.driver);
  DeviceMemory scratch(gpu.driver, call.scratch_bytes);
  std::vector<DeviceMemory> memories;
  std::vector<Address> addresses;
  for (bool isResult : {false, true})
    for (const std::vector<Element> &each : isResult ? tensors.results : tensors.operands) {
      const auto bytes = each.size() * sizeof(Element);
      memories.emplace_back(gpu.driver, bytes);
      addresses.push_back(memories.back().address());
      if (!isResult || (p.is_in_place && &each == &tensors.results.front()))
        gpu.driver.copyToDevice(addresses.back(), each.data(), bytes, stream);
    }
  auto prepared = findCallKind(kind)->prepare(
      {libraries, MTC_CUDA_TF32, {addresses, scratch.address(), &images, "a node"}}, call);
  ASSERT_TRUE(prepared);
  prepared->enqueue(stream);
  gpu.waitFor(stream, "the layer");
  for (auto [i, each] : llvm::enumerate(tensors.results))
    gpu.driver.copyToHost(each.data(), addresses[tensors.operands.size() + i],
                          each.size() * sizeof(Element), stream);
  gpu.waitFor(stream, "the copies");
}

template <typename Element>
void expectNear(const Tensors<Element> &found, const Tensors<Element> &expected, double tolerance) {
  for (size_t i = 0; i < expected.results.size(); ++i)
    for (size_t k = 0; k < expected.results[i].size(); ++k)
      ASSERT_NEAR(found.results[i][k], expected.results[i][k], tolerance)
          << "result " << i << ", element " << k;
}

template <typename Element> void checkAll(uint32_t type, double tolerance, bool isInPlace = false) {
  for (const Case &c : cases)
    for (bool isGradient : {false, true}) {
      SCOPED_TRACE(stringifyRecurrentCell(c.cell).str() + ", " + std::to_string(c.batch) + " x " +
                   std::to_string(c.hidden) + (isGradient ? ", gradient" : ""));
      MtcRecurrence p = recordOf(c, type);
      p.is_in_place = isInPlace;
      // Only one of the LSTM cases has a gradient of the auxiliary result.
      p.has_d_auxiliary = isGradient && c.cell == RecurrentCell::Lstm && c.steps == 2;
      Tensors<Element> expected(describe(p, isGradient), p), found(expected);
      runOnCpu(p, isGradient, expected);
      runOnDevice(p, isGradient, found);
      expectNear(found, expected, tolerance);
    }
}

TEST(DeviceRecurrence, MatchesTheCpu) { checkAll<float>(MTC_F32, 1e-5); }

TEST(DeviceRecurrence, MatchesTheCpuInDoublePrecision) { checkAll<double>(MTC_F64, 1e-13); }

TEST(DeviceRecurrence, MatchesTheCpuInPlace) { checkAll<float>(MTC_F32, 1e-5, true); }

TEST(DeviceRecurrence, LargePreactivationsSaturate) {
  const MtcRecurrence p = recordOf({RecurrentCell::Lstm, 1, 1, 3}, MTC_F32);
  Tensors<float> tensors(describe(p, false), p);
  tensors.operands[1].assign(tensors.operands[1].size(), 0);
  tensors.operands[0] = {-1e30f, 1e30f,  NAN, 1e30f, 1e30f,  1e30f,
                         1e30f,  -1e30f, 0,   1e30f, -1e30f, 1e30f};
  tensors.operands[3] = {1, 1, 1};
  runOnDevice(p, false, tensors);
  EXPECT_EQ(tensors.results[2][0], 1);  // f = 1, i = 0
  EXPECT_EQ(tensors.results[2][1], -1); // f = 0, i = 1, g = -1
  EXPECT_TRUE(std::isnan(tensors.results[1][2]));
}

TEST(DeviceRecurrence, RelusKeepNaN) {
  const MtcRecurrence p = recordOf({RecurrentCell::Relu, 1, 1, 2}, MTC_F32);
  Tensors<float> tensors(describe(p, false), p);
  tensors.operands[0] = {NAN, -9};
  runOnDevice(p, false, tensors);
  EXPECT_TRUE(std::isnan(tensors.results[1][0]));
  EXPECT_EQ(tensors.results[1][1], 0);
}

TEST(DeviceRecurrence, ScratchDoesNotDependOnTheSteps) {
  MtcRecurrence p = recordOf({RecurrentCell::Gru, 1, 32, 512}, MTC_F32), longer = p;
  longer.steps = 4096;
  for (const char *kind : {MTC_RECURRENCE, MTC_RECURRENCE_GRADIENT})
    EXPECT_EQ(mtc_cuda_call_scratch_bytes(kind, &p), mtc_cuda_call_scratch_bytes(kind, &longer));
}

TEST(DeviceRecurrence, OtherLayersAreNotPlanned) {
  auto isPlanned = [](const MtcRecurrence &p) {
    const bool hasScratch = mtc_cuda_call_scratch_bytes(MTC_RECURRENCE_GRADIENT, &p) >= 0;
    EXPECT_EQ(cuda::planDeviceCall(describe(p, true)).has_value(), hasScratch);
    return hasScratch;
  };
  MtcRecurrence p = recordOf({RecurrentCell::Gru, 3, 2, 4}, MTC_F32);
  EXPECT_TRUE(isPlanned(p));
  p.type = MTC_BF16;
  EXPECT_FALSE(isPlanned(p));
  p.type = MTC_F64;
  EXPECT_TRUE(isPlanned(p));
  p.batch = 0;
  EXPECT_FALSE(isPlanned(p));
}

/// One program has both directions of a layer.
TEST(DeviceRecurrence, DirectionsHaveTheirOwnNames) {
  const MtcRecurrence p = recordOf({RecurrentCell::Gru, 3, 2, 4}, MTC_F32);
  for (const gpu::Launch &forward : cuda::planDeviceCall(describe(p, false))->launches())
    for (const gpu::Launch &gradient : cuda::planDeviceCall(describe(p, true))->launches())
      EXPECT_NE(forward.symbol, gradient.symbol);
}

TEST(DeviceRecurrence, PtxCallsNothing) {
  for (const Case &c : cases)
    for (uint32_t type : {MTC_F32, MTC_F64})
      for (bool isGradient : {false, true}) {
        CallAttrInterface call = describe(recordOf(c, type), isGradient);
        llvm::LLVMContext context;
        auto module = cuda::buildDeviceCall(call, *cuda::planDeviceCall(call), context);
        ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
        auto ptx = cuda::emitPtx(**module, cuda::Architecture{8, 0}, 3);
        ASSERT_TRUE(bool(ptx)) << llvm::toString(ptx.takeError());
        EXPECT_EQ(ptx->find(".extern .func"), std::string::npos);
        EXPECT_EQ(ptx->find(".local"), std::string::npos);
      }
}

} // namespace

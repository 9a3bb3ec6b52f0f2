//===- AttentionTest.cpp - Attention's device code under emulation ----------------------------===//

#include "codegen/Jit.h"
#include "codegen/cuda/Cubin.h"
#include "codegen/cuda/DeviceCall.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/Resources.h"
#include "codegen/cuda/emulated/Emulation.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "test/support/attention_cases.h"

#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"

#include <cstring>

using namespace mtc;
using namespace mtc::attention_cases;
namespace emulation = mtc::runtime::emulation;

namespace {

CallAttrInterface describe(const MtcAttention &p, bool isGradient) {
  static mlir::MLIRContext context;
  context.loadDialect<MtcDialect>();
  if (isGradient)
    return AttentionGradientCallAttr::get(&context, p);
  return AttentionCallAttr::get(&context, p);
}

llvm::Error compile(CallAttrInterface call, const cuda::DeviceCall &plan, llvm::orc::LLJIT &jit,
                    const cpu::Processor &processor) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = cuda::buildDeviceCall(call, plan, *context);
  if (!module)
    return module.takeError();
  if (llvm::Error error = cuda::emulateDeviceModule(**module, 3))
    return error;
  auto machine = cpu::createTargetMachine(processor, 3);
  if (!machine)
    return machine.takeError();
  cpu::optimize(**module, **machine, 1);
  return jit.addIRModule(llvm::orc::ThreadSafeModule(std::move(*module), std::move(context)));
}

/// Runs a call on its own device memory. Results are initialized with values that no correct result
/// has.
void runAs(ContractionPrecision precision, const MtcAttention &p, bool isGradient,
           const std::vector<Buffer> &buffers, size_t operands) {
  CallAttrInterface call = describe(p, isGradient);
  auto plan = cuda::planDeviceCall(call, precision);
  ASSERT_TRUE(plan);
  auto processor = cpu::describeProcessor("host", "");
  ASSERT_TRUE(bool(processor));
  auto jit = createJit(*processor);
  ASSERT_TRUE(bool(jit));
  llvm::Error error = compile(call, *plan, **jit, *processor);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));

  std::vector<char *> memory;
  for (const Buffer &buffer : buffers) {
    memory.push_back(emulation::allocate(buffer.bytes));
    std::memset(memory.back(), 0x7b, buffer.bytes);
    if (memory.size() > operands)
      continue;
    std::memcpy(memory.back(), buffer.data, buffer.bytes);
    emulation::markDefined(memory.back(), buffer.bytes);
  }
  memory.push_back(nullptr); // scratch
  for (const gpu::Launch &launch : plan->launches()) {
    auto function = (*jit)->lookup(cuda::emulatedSymbol(launch.symbol));
    ASSERT_TRUE(bool(function)) << llvm::toString(function.takeError());
    MtcGpuLaunch description = {launch.symbol.c_str(),
                                function->toPtr<MtcEmulatedFunction>(),
                                {uint32_t(launch.grid[0]), 1, 1},
                                {uint32_t(launch.block[0]), 1, 1},
                                uint32_t(launch.sharedBytes)};
    EXPECT_EQ(emulation::launch(description, memory.data(), "a node", 2), "");
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::memcpy(buffers[i].data, memory[i], buffers[i].bytes);
    emulation::release(memory[i]);
  }
}

void run(const MtcAttention &p, bool isGradient, const std::vector<Buffer> &buffers,
         size_t operands) {
  runAs(ContractionPrecision::F32, p, isGradient, buffers, operands);
}

/// The call uses tensor cores, which round operands to tf32.
void runTf32(const MtcAttention &p, bool isGradient, const std::vector<Buffer> &buffers,
             size_t operands) {
  runAs(ContractionPrecision::TF32, p, isGradient, buffers, operands);
}
constexpr double tf32Tolerance = 1e-2;

template <typename Element> void checkAll() {
  for (const Case &c : cases)
    Instance<Element>(c).check(run);
}

TEST(DeviceAttention, MatchesItsDefinition) { checkAll<float>(); }

TEST(DeviceAttention, MatchesItsDefinitionInDoublePrecision) { checkAll<double>(); }

/// Cases that cover all code that depends on the element type.
template <typename Element> void checkNarrow() {
  for (const Case &c : cases)
    if (llvm::StringRef(c.name) == "ragged tiles" || llvm::StringRef(c.name) == "odd widths" ||
        llvm::StringRef(c.name) == "heads inside" || llvm::StringRef(c.name) == "all kinds")
      Instance<Element>(c).check(run);
}

TEST(DeviceAttention, MatchesItsDefinitionInHalfPrecision) { checkNarrow<_Float16>(); }

TEST(DeviceAttention, MatchesItsDefinitionInBfloat16) { checkNarrow<__bf16>(); }

TEST(DeviceAttention, WideHeadsHaveTilesOfTheirOwn) {
  Case c = {.name = "wide", .batch = 1, .queries = 37, .keys = 45, .width = 128, .valueWidth = 100};
  c.causal = true;
  c.offset = 8;
  Instance<float>(c).check(run);
  Instance<__bf16>(c).check(run);
  c.name = "wider values";
  c.width = 40;
  c.valueWidth = 64;
  Instance<float>(c).check(run);
  Instance<double>(c).check(run);
}

TEST(DeviceAttention, TensorCoresMatchTheDefinition) {
  for (const Case &c : cases)
    Instance<float>(c).check(runTf32, tf32Tolerance);
  Instance<float>({.name = "wide", .queries = 37, .keys = 45, .width = 128, .valueWidth = 100})
      .check(runTf32, tf32Tolerance);
  Instance<float>({.name = "whole", .queries = 64, .keys = 64, .width = 64, .valueWidth = 64})
      .check(runTf32, tf32Tolerance);
}

/// The sums have few terms, which tf32 represents exactly, so that only multiplications with
/// exponentials round.
TEST(DeviceAttention, TensorCoresMultiplyWhatNeedsNoRoundingExactly) {
  constexpr int64_t length = 24, width = 40;
  MtcAttention p = {};
  p.type = MTC_F32;
  p.batch = p.heads = p.key_heads = 1;
  p.queries = p.keys = length;
  p.width = p.value_width = width;
  p.scale = 1;
  for (int64_t *strides : {p.query, p.key, p.value, p.out}) {
    strides[2] = width;
    strides[3] = 1;
  }
  std::vector<float> query(length * width), key(query), value(query), out(query), sums(length);
  for (size_t i = 0; i < length; ++i) {
    query[i * width + i] = 1024; // Each query has a key of its own, beside which no other counts.
    key[i * width + i] = 1;
  }
  for (size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<float>(i) - 300;
  auto bufferOf = [](std::vector<float> &values) {
    return Buffer{reinterpret_cast<char *>(values.data()), values.size() * sizeof(float)};
  };
  runTf32(p, false,
          {bufferOf(query), bufferOf(key), bufferOf(value), bufferOf(out), bufferOf(sums)}, 3);
  EXPECT_EQ(out, value);
  EXPECT_EQ(sums, std::vector<float>(length, 1024));
}

TEST(DeviceAttention, TheSameBitsEveryTime) {
  Instance<float> instance({.name = "twice", .queries = 150, .keys = 150, .causal = true});
  instance.check(run);
  auto first = instance.results;
  instance.check(run);
  EXPECT_EQ(first, instance.results);
}

/// Returns the launches of the call for an architecture, and checks their use of a multiprocessor.
std::string findSpills(const MtcAttention &p, bool isGradient, ContractionPrecision precision,
                       const cuda::Architecture &architecture, unsigned &launches) {
  CallAttrInterface call = describe(p, isGradient);
  llvm::LLVMContext context;
  auto plan = cuda::planDeviceCall(call, precision);
  if (!plan)
    return "not planned";
  auto module = cuda::buildDeviceCall(call, *plan, context);
  if (!module)
    return llvm::toString(module.takeError());
  auto ptx = cuda::emitPtx(**module, architecture, 3);
  if (!ptx)
    return llvm::toString(ptx.takeError());
  if (ptx->find(".extern .func") != std::string::npos)
    return "calls what is not there";
  auto cubin = cuda::assemble(*ptx, "attention", architecture, 3);
  if (!cubin)
    return llvm::toString(cubin.takeError());
  std::string wrong;
  for (const cuda::Resources &resources : cuda::readResources(cubin->log)) {
    ++launches;
    if (resources.stackBytes || resources.spillStores || resources.spillLoads)
      wrong += resources.symbol + ": " + std::to_string(resources.stackBytes) +
               " bytes of stack, " + std::to_string(resources.spillStores) + " spilled, " +
               std::to_string(resources.registers) + " registers\n";
  }
  return wrong;
}

TEST(DeviceAttention, NeedsNoMemoryForRegisters) {
  Case c = {.name = "all kinds", .heads = 4, .queries = 100, .keys = 100};
  c.mask = c.bias = c.causal = c.broadcastHeads = true;
  for (auto [width, valueWidth] : {std::pair(32, 32), {64, 64}, {128, 128}, {64, 40}, {5, 7}}) {
    c.width = width;
    c.valueWidth = valueWidth;
    for (const MtcAttention &p :
         {Instance<float>(c).description(), Instance<double>(c).description(),
          Instance<_Float16>(c).description(), Instance<__bf16>(c).description()}) {
      const bool isNarrow = p.type == MTC_F16 || p.type == MTC_BF16;
      if ((p.type == MTC_F64 && width > 64) || (isNarrow && valueWidth != 64))
        continue;
      unsigned launches = 0;
      std::vector<ContractionPrecision> precisions = {ContractionPrecision::F32};
      if (p.type == MTC_F32)
        precisions.push_back(ContractionPrecision::TF32);
      for (cuda::Architecture architecture :
           {cuda::Architecture{8, 0}, cuda::Architecture{9, 0}, cuda::Architecture{12, 0}})
        for (bool isGradient : {false, true})
          for (ContractionPrecision precision : precisions)
            EXPECT_EQ(findSpills(p, isGradient, precision, architecture, launches), "")
                << p.type << ' ' << width << ' ' << valueWidth << ' ' << architecture.name();
      EXPECT_EQ(launches, 9 * precisions.size());
    }
  }
}

TEST(DeviceAttention, LargeScoresDoNotOverflow) {
  LargeScores scores;
  scores.attend(run);
  EXPECT_EQ(scores.out[0], 129);
  EXPECT_EQ(scores.logsumexp[0], 129000);
  // A diverged run must produce NaN.
  scores.key[7] = std::numeric_limits<float>::quiet_NaN();
  scores.attend(run);
  EXPECT_TRUE(std::isnan(scores.out[0]));
}

TEST(DeviceAttention, WhatTheTilesAreNotForIsNotPlanned) {
  MtcAttention p = {};
  p.type = MTC_F32;
  p.batch = p.heads = p.key_heads = 2;
  p.queries = p.keys = 8;
  p.width = p.value_width = 64;
  auto isPlanned = [&] { return cuda::planDeviceCall(describe(p, true)).has_value(); };
  EXPECT_TRUE(isPlanned());
  p.value_width = 129;
  EXPECT_FALSE(isPlanned());
  p.value_width = 64;
  p.type = MTC_I32;
  EXPECT_FALSE(isPlanned());
  p.type = MTC_F64;
  EXPECT_TRUE(isPlanned());
  p.width = 128;
  EXPECT_FALSE(isPlanned());
  p.type = MTC_BF16;
  EXPECT_TRUE(isPlanned());
  p.keys = 0;
  EXPECT_FALSE(isPlanned());
  p.keys = 8;
  p.batch = int64_t{1} << 31;
  EXPECT_FALSE(isPlanned());
}

} // namespace

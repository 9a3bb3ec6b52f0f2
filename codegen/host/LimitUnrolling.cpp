//===- LimitUnrolling.cpp - Limit of the memory accesses of unrolled loops --------------------===//

#include "codegen/host/LimitUnrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

/// The maximum number of registers that a completely unrolled loop loads and stores: the accesses
/// of eight iterations of 64 lanes with three operands on AVX-512, rounded up.
constexpr uint64_t maxAccesses = 128;

/// The body of a loop in registers: the registers that its instructions produce, store or compare.
struct BodySize {
  uint64_t accesses = 0, all = 0;
};

BodySize measureBody(const Loop &loop, const TargetTransformInfo &info) {
  const uint64_t bits = info.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector);
  BodySize size;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isa<PHINode, GetElementPtrInst>(instruction))
        continue;
      Type *type = instruction.getType();
      if (type->isVoidTy() && instruction.getNumOperands() > 0)
        type = instruction.getOperand(0)->getType(); // the stored value, also of masked stores
      const uint64_t registers = std::max<uint64_t>(
          1, divideCeil(type->getPrimitiveSizeInBits().getKnownMinValue(), bits));
      size.all += registers;
      if (instruction.mayReadOrWriteMemory())
        size.accesses += registers;
    }
  return size;
}

/// Returns the number of iterations that LLVM would unroll a loop by if it did not unroll the loop
/// completely.
unsigned partialCount(Loop &loop, const BodySize &size, LoopStandardAnalysisResults &analyses) {
  TargetTransformInfo::UnrollingPreferences preferences = {};
  analyses.TTI.getUnrollingPreferences(&loop, analyses.SE, preferences, /*ORE=*/nullptr);
  auto count = static_cast<unsigned>(bit_floor(preferences.PartialThreshold / size.all));
  const unsigned trips = analyses.SE.getSmallConstantTripCount(&loop);
  while (count > 1 && trips % count != 0)
    count /= 2;
  return count;
}

/// Inner loops that LLVM unrolls completely have been unrolled before the pass sees a loop.
/// Unrolling a loop around one of the others would only duplicate the inner loop.
struct LimitUnrolling : PassInfoMixin<LimitUnrolling> {
  static PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                               LoopStandardAnalysisResults &analyses, LPMUpdater &) {
    if (!loop.isInnermost()) {
      loop.setLoopAlreadyUnrolled();
      return PreservedAnalyses::all();
    }
    const BodySize size = measureBody(loop, analyses.TTI);
    // LLVM does not unroll loops of an unknown number of iterations, 0 here, completely.
    if (size.accesses * analyses.SE.getSmallConstantMaxTripCount(&loop) <= maxAccesses)
      return PreservedAnalyses::all();
    if (unsigned count = partialCount(loop, size, analyses); count > 1)
      addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", count);
    else
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

} // namespace

void mtc::cpu::limitUnrolling(PassBuilder &builder) {
  // The last extension point before loops are unrolled.
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) { passes.addPass(LimitUnrolling()); });
}

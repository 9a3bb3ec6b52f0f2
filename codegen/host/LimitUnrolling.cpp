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

/// The size of a loop's body.
struct BodySize {
  uint64_t accesses = 0;   ///< registers that are loaded or stored
  uint64_t registers = 0;  ///< registers that instructions produce, store or compare
  uint64_t operations = 0; ///< vector operations, whose cost for LLVM is at least 1
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
      size.registers += registers;
      if (type->isVectorTy() && !isa<CastInst>(instruction))
        ++size.operations;
      if (instruction.mayReadOrWriteMemory())
        size.accesses += registers;
    }
  return size;
}

/// Returns LLVM's limit for the cost of a partially unrolled loop.
unsigned maxPartialCost(Loop &loop, LoopStandardAnalysisResults &analyses) {
  TargetTransformInfo::UnrollingPreferences preferences = {};
  analyses.TTI.getUnrollingPreferences(&loop, analyses.SE, preferences, /*ORE=*/nullptr);
  return preferences.PartialThreshold;
}

/// Returns the factor by which LLVM would unroll a loop if it did not unroll the loop
/// completely.
unsigned partialCount(Loop &loop, const BodySize &size, LoopStandardAnalysisResults &analyses) {
  auto count = static_cast<unsigned>(bit_floor(maxPartialCost(loop, analyses) / size.registers));
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
    // LLVM does not completely unroll loops with an unknown number of iterations, which is 0 here.
    if (size.accesses * analyses.SE.getSmallConstantMaxTripCount(&loop) <= maxAccesses)
      return PreservedAnalyses::all();
    if (unsigned count = partialCount(loop, size, analyses); count > 1)
      addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", count);
    else
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

/// Excludes loops that LLVM has not unrolled completely, and whose bodies are too long for partial
/// unrolling, from the second unrolling of LLVM's pipeline. That unrolling would simulate their
/// iterations again, with the cost of each lane.
struct EndUnrolling : PassInfoMixin<EndUnrolling> {
  static PreservedAnalyses run(Loop &loop, LoopAnalysisManager &,
                               LoopStandardAnalysisResults &analyses, LPMUpdater &) {
    if (analyses.SE.getSmallConstantMaxTripCount(&loop) > 0 &&
        2 * measureBody(loop, analyses.TTI).operations > maxPartialCost(loop, analyses))
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

} // namespace

void mtc::cpu::limitUnrolling(PassBuilder &builder) {
  // The last extension point before loops are unrolled, and the first one after it.
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) { passes.addPass(LimitUnrolling()); });
  builder.registerLoopOptimizerEndEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) { passes.addPass(EndUnrolling()); });
}

//===- MemoryFloor.cpp - What no plan of a function needs less than ---------------------------===//

#include "passes/memory/MemoryFloor.h"

#include "ir/DiscardableAttributes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

static bool isComputed(const PlannedValue &value) {
  return value.definition && value.definition->isCompute;
}

/// Whether some plan may have the value in bytes that are there for the whole step.
static bool mayLieInVariable(const PlannedValue &value) {
  return !isComputed(value) || !value.writers.empty();
}

/// What an operation reads and gives.
static int64_t bytesOfValues(PlannedOperation &op) {
  int64_t bytes = 0;
  llvm::SmallSetVector<PlannedValue *, 8> operands(op.operands.begin(), op.operands.end());
  for (const PlannedValue *operand : operands)
    if (!mayLieInVariable(*operand))
      bytes += operand->bytes;
  for (auto [number, result] : llvm::enumerate(op.results)) {
    const bool mayShare = llvm::any_of(operands, [&](PlannedValue *operand) {
      return isComputed(*operand) && op.mayShare(number, operand);
    });
    if (!mayShare && !mayLieInVariable(result))
      bytes += result.bytes;
  }
  return bytes;
}

/// Of all ways to accumulate, and of none.
static int64_t leastScratch(PlannedOperation &op, const TargetInfo &target) {
  const std::optional<unsigned> none;
  int64_t least = op.getScratchBytes(target, none);
  if (auto call = dyn_cast<EpilogueOpInterface>(op.op))
    for (unsigned operand = 0; operand < op.operands.size(); ++operand)
      if (call.mayAccumulate(operand))
        least = std::min(least, op.getScratchBytes(target, operand));
  return paddedBytes(std::max<int64_t>(least, 0));
}

int64_t mtc::findFloor(const FunctionMemory &function, const TargetInfo &target) {
  int64_t floor = 0;
  for (PlannedOperation *op : function.getOrder()) {
    if (!op->isCompute || isa<MoveOp>(op->op) || op->op->hasAttr(recomputedAttribute))
      continue;
    const int64_t values = bytesOfValues(*op);
    // Most need less in any case, and a library is slow to answer.
    if (values + paddedBytes(std::max<int64_t>(op->scratchBytes, 0)) > floor)
      floor = std::max(floor, values + leastScratch(*op, target));
  }
  return floor;
}

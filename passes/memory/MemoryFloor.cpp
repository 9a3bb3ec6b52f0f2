//===- MemoryFloor.cpp - Lower bound on the memory of a function ------------------------------===//

#include "passes/memory/MemoryFloor.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

static bool isComputed(const PlannedValue &value) {
  return value.definition && value.definition->isCompute;
}

/// Returns whether some plan may store the value in a slice that is allocated for the whole step.
static bool mayLieInVariable(const PlannedValue &value) {
  return !isComputed(value) || !value.writers.empty();
}

/// Returns the bytes of those operands and results of an operation that `tiling` does not tile.
static int64_t bytesOfValues(PlannedOperation &op, const Tiles *tiling) {
  int64_t bytes = 0;
  llvm::SmallSetVector<PlannedValue *, 8> operands;
  for (auto [number, operand] : llvm::enumerate(op.operands))
    if (!tiling || tiling->operands[number] != TileKind::Tile)
      operands.insert(operand);
  for (const PlannedValue *operand : operands)
    if (!mayLieInVariable(*operand))
      bytes += operand->bytes;
  for (auto [number, result] : llvm::enumerate(op.results)) {
    const bool mayShare = llvm::any_of(operands, [&](PlannedValue *operand) {
      return isComputed(*operand) && op.mayShare(number, operand);
    });
    const bool isTile = tiling && tiling->results[number] == TileKind::Tile;
    if (!mayShare && !isTile && !mayLieInVariable(result))
      bytes += result.bytes;
  }
  return bytes;
}

/// Returns the minimum scratch over all operands to accumulate into, including none.
static int64_t minScratch(PlannedOperation &op, const TargetInfo &target) {
  const std::optional<unsigned> none;
  int64_t minimum = op.getScratchBytes(target, none);
  if (auto call = dyn_cast<EpilogueOpInterface>(op.op))
    for (unsigned operand = 0; operand < op.operands.size(); ++operand)
      if (call.mayAccumulate(operand))
        minimum = std::min(minimum, op.getScratchBytes(target, operand));
  return paddedBytes(std::max<int64_t>(minimum, 0));
}

/// Returns the minimum working set of an operation, or 0 if it is at most `known`.
static int64_t minBytes(PlannedOperation &op, const TargetInfo &target, int64_t known) {
  if (auto piecewise = dyn_cast<TileableOpInterface>(op.op)) {
    int64_t minimum = -1;
    for (const Tiles &tiling : piecewise.getTiles(/*count=*/2)) {
      const int64_t bytes = bytesOfValues(op, &tiling);
      minimum = minimum < 0 ? bytes : std::min(minimum, bytes);
    }
    if (minimum >= 0)
      return minimum;
  }
  const int64_t values = bytesOfValues(op, /*tiling=*/nullptr);
  // Most operations stay below the known bound, and querying a library for its scratch is slow.
  if (values + paddedBytes(std::max<int64_t>(op.scratchBytes, 0)) <= known)
    return 0;
  return values + minScratch(op, target);
}

int64_t mtc::findFloor(const FunctionMemory &function, const TargetInfo &target) {
  int64_t floor = 0;
  for (PlannedOperation *op : function.getOrder()) {
    if (!op->isCompute || op->isAssembly || isa<MoveOp>(op->op) ||
        op->op->hasAttr(recomputedAttribute) || op->op->hasAttr(inTilesAttribute))
      continue;
    floor = std::max(floor, minBytes(*op, target, floor));
  }
  return floor;
}

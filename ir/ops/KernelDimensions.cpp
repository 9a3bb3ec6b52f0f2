//===- KernelDimensions.cpp - Dimensions along which the scalars of a kernel vary -------------===//

#include "ir/ops/KernelDimensions.h"

#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

void mtc::addDimensions(AffineMap map, llvm::SmallBitVector &dims) {
  for (unsigned d = 0; d < dims.size(); ++d)
    if (map.isFunctionOfDim(d))
      dims.set(d);
}

llvm::SmallBitVector mtc::dimensionsOf(Value value, ArrayRef<int64_t> space,
                                       ArrayRef<int64_t> reduced,
                                       DenseMap<Value, llvm::SmallBitVector> &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  llvm::SmallBitVector result(space.size());
  Operation *op = value.getDefiningOp();
  if (op) {
    if (auto load = dyn_cast<KernelLoadOp>(op))
      addDimensions(load.getMap(), result);
    else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
      addDimensions(sum.getMap(), result);
    else if (auto index = dyn_cast<KernelIndexOp>(op))
      addDimensions(index.getMap(), result);
    for (Value operand : op->getOperands())
      if (!isa<RankedTensorType>(operand.getType()))
        result |= dimensionsOf(operand, space, reduced, known);
    if (isa<KernelReduceOp>(op))
      for (int64_t d : reduced)
        result.reset(d);
  }
  known[value] = result;
  return result;
}

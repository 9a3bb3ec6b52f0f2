//===- KernelCost.cpp - Cost of a kernel ------------------------------------------------------===//

#include "ir/ops/KernelCost.h"

#include "ir/CheckedExtents.h"
#include "ir/builders/Shape.h"
#include "ir/ops/KernelDimensions.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;

static int64_t iterationsAlong(const llvm::SmallBitVector &dims, ArrayRef<int64_t> space) {
  int64_t iterations = 1;
  for (unsigned d : dims.set_bits())
    iterations *= space[d];
  return iterations;
}

/// Returns the number of bytes of an operand that its loads read, which is at most its size.
/// Iterations that agree in all dimensions on which a load's indices depend read the same element.
static int64_t bytesRead(BlockArgument operand, ArrayRef<int64_t> space, ArrayRef<int64_t> reduced,
                         DenseMap<Value, llvm::SmallBitVector> &known) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t elements = 0, all = type.getNumElements();
  SmallVector<KernelLoadOp> loads;
  for (Operation *user : operand.getUsers()) {
    if (auto sum = dyn_cast<KernelAddRowsOp>(user)) {
      llvm::SmallBitVector dims(space.size());
      addDimensions(sum.getMap(), dims);
      elements += sum.getRowCount() * iterationsAlong(dims, space);
      if (elements >= all)
        return byteSize(type);
      continue;
    }
    auto load = dyn_cast<KernelLoadOp>(user);
    if (!load) // The initial value of a result (`onto`) is not read as a whole.
      continue;
    // Repeated loads of the same element are free.
    if (llvm::any_of(loads, [&](KernelLoadOp other) {
          return other.getMap() == load.getMap() && other.getSymbols() == load.getSymbols();
        }))
      continue;
    loads.push_back(load);
    llvm::SmallBitVector dims(space.size());
    addDimensions(load.getMap(), dims);
    for (Value symbol : load.getSymbols())
      dims |= dimensionsOf(symbol, space, reduced, known);
    elements += iterationsAlong(dims, space);
    if (elements >= all)
      return byteSize(type);
  }
  return elements * elementBytes(type.getElementType());
}

/// Returns whether processors compute the operation with a polynomial or an iteration.
static bool isFunction(Operation &op) {
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) &&
         !isa<math::AbsFOp, math::CopySignOp, math::FmaOp, math::CeilOp, math::FloorOp,
              math::RoundOp, math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::RsqrtOp>(op);
}

Cost mtc::costOfKernel(ArrayRef<int64_t> space, ArrayRef<int64_t> reduced, Block &body,
                       TypeRange outputs) {
  Cost cost;
  const int64_t iterations = saturatingProduct(space);
  int64_t perIteration = 0;
  for (Operation &op : body)
    if (auto sum = dyn_cast<KernelAddRowsOp>(op))
      perIteration += (sum.getRowCount() - (sum.getOnto() ? 0 : 1)) * (sum.getDecay() ? 2 : 1);
    else if (isa<KernelReduceOp>(op) ||
             (op.getNumResults() && !op.hasTrait<OpTrait::ConstantLike>() &&
              isa<FloatType>(op.getResult(0).getType()) && !isa<KernelLoadOp>(op)))
      ++perIteration;
  cost.flops = saturatingProduct({iterations, perIteration});
  DenseMap<Value, llvm::SmallBitVector> known;
  for (Operation &op : body)
    if (isFunction(op))
      cost.functions = saturatingSum(
          {cost.functions,
           iterationsAlong(dimensionsOf(op.getResult(0), space, reduced, known), space)});
  for (BlockArgument operand : body.getArguments())
    cost.bytes += bytesRead(operand, space, reduced, known);
  for (Type type : outputs)
    cost.bytes += byteSize(cast<RankedTensorType>(type));
  return cost;
}

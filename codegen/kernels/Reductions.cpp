//===- Reductions.cpp - The reductions of one level of a kernel -------------------------------===//

#include "codegen/kernels/Reductions.h"

#include "ir/builders/Scalar.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;

Reductions::Reductions(const NormalKernel &kernel, unsigned level) : level(level) {
  for (KernelReduceOp reduce : kernel.reductions) {
    if (kernel.values.lookup(reduce.getResult()).level != level)
      continue;
    ops.push_back(reduce);
    operands.push_back(reduce.getValue());
    if (reduce.getKind() == ReductionKind::Add && isa<FloatType>(reduce.getType()))
      roundsSums = true;
  }
}

Accumulators Reductions::combine(ImplicitLocOpBuilder &b, ValueRange lhs, ValueRange rhs) const {
  Accumulators result;
  for (auto [reduce, x, y] : llvm::zip_equal(ops, lhs, rhs))
    result.push_back(mtc::combine(b, reduce, x, y));
  return result;
}

TypedAttr mtc::neutralElement(KernelReduceOp reduce) {
  return neutralElement(reduce.getKind(), reduce.getType(), reduce.getIsUnsigned());
}

Value mtc::combine(ImplicitLocOpBuilder &b, KernelReduceOp reduce, Value lhs, Value rhs) {
  return combineScalars(b, b.getLoc(), reduce.getKind(), lhs, rhs, reduce.getIsUnsigned());
}

Value mtc::combineLanes(ImplicitLocOpBuilder &b, KernelReduceOp reduce, Value lanes) {
  auto slice = [&](int64_t offset, int64_t size) -> Value {
    return vector::ExtractStridedSliceOp::create(b, lanes, ArrayRef<int64_t>{offset},
                                                 ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  };
  for (int64_t half = cast<VectorType>(lanes.getType()).getNumElements() / 2; half > 0; half /= 2)
    lanes = combine(b, reduce, slice(0, half), slice(half, half));
  return vector::ExtractOp::create(b, lanes, ArrayRef<int64_t>{0});
}

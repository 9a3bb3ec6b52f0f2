//===- ContractCall.cpp - A contraction as a library sees it ----------------------------------===//

#include "ir/Mtc.h"
#include "ir/Shape.h"
#include "ir/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

/// The stride of axes seen as one, in the order given; nothing if they cannot be. Axes of extent 1
/// have no say.
static std::optional<int64_t> mergedStride(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> strides) {
  std::optional<int64_t> inner, outerExpected;
  for (int64_t axis : llvm::reverse(axes)) {
    if (shape[axis] == 1)
      continue;
    if (outerExpected && strides[axis] != *outerExpected)
      return std::nullopt;
    if (!inner)
      inner = strides[axis];
    outerExpected = strides[axis] * shape[axis];
  }
  return inner.value_or(1);
}

static int64_t product(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t axis : axes)
    result *= shape[axis];
  return result;
}

/// Floats of 32 bits and less are a library's; it has no f64 and no integers.
bool ContractOp::isLibraryCall() {
  auto element = dyn_cast<FloatType>(getType().getElementType());
  return element && element.getWidth() <= 32 && !getLhsContract().empty();
}

/// A library multiplies matrices whose rows and columns have one stride each.
bool ContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  ArrayRef<int64_t> shape = shapeOf(getOperand(operand));
  return mergedStride(operand == 0 ? getLhsFree() : getRhsFree(), shape, strides) &&
         mergedStride(operand == 0 ? getLhsContract() : getRhsContract(), shape, strides);
}

SmallVector<int64_t> ContractOp::getDenseOrder(unsigned operand) {
  SmallVector<int64_t> order(operand == 0 ? getLhsBatch() : getRhsBatch());
  llvm::append_range(order, operand == 0 ? getLhsFree() : getRhsFree());
  llvm::append_range(order, operand == 0 ? getLhsContract() : getRhsContract());
  return order;
}

Operation *ContractOp::buildCall(OpBuilder &builder, const CallPlaces &places) {
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  SmallVector<int64_t> lhsStrides = stridesOf(getLhs()), rhsStrides = stridesOf(getRhs());
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  SmallVector<int64_t> batch = pick(lhs, getLhsBatch());
  SmallVector<int64_t> lhsCall = pick(lhsStrides, getLhsBatch());
  SmallVector<int64_t> rhsCall = pick(rhsStrides, getRhsBatch());
  lhsCall.append(
      {*mergedStride(lhsFree, lhs, lhsStrides), *mergedStride(getLhsContract(), lhs, lhsStrides)});
  rhsCall.append(
      {*mergedStride(getRhsContract(), rhs, rhsStrides), *mergedStride(rhsFree, rhs, rhsStrides)});
  int64_t m = product(lhsFree, lhs), n = product(rhsFree, rhs);
  SmallVector<int64_t> out(batch);
  out.append({m, n});
  return CallContractOp::create(builder, getLoc(), places.operands[0], places.operands[1],
                                places.results[0], places.scratchOffset, places.scratchBytes, batch,
                                m, n, product(getLhsContract(), lhs), lhsCall, rhsCall,
                                rowMajorStrides(out), /*accumulate=*/false);
}

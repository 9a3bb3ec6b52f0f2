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

/// Axes of the result as the call sees them: batch axes by themselves, then all of lhs, all of rhs.
/// The strides of an addend over them; nothing if they have none.
static std::optional<SmallVector<int64_t>> addendStrides(ContractOp op, ArrayRef<int64_t> strides) {
  int64_t batch = op.getLhsBatch().size(), rows = op.getLhsFree().size(),
          rank = op.getType().getRank();
  ArrayRef<int64_t> shape = op.getType().getShape();
  auto row = mergedStride(llvm::to_vector(llvm::seq(batch, batch + rows)), shape, strides);
  auto column = mergedStride(llvm::to_vector(llvm::seq(batch + rows, rank)), shape, strides);
  if (!row || !column)
    return std::nullopt;
  SmallVector<int64_t> result(strides.take_front(batch));
  result.append({*row, *column});
  return result;
}

/// A library multiplies matrices whose rows and columns have one stride each.
bool ContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  if (operand >= firstAddend)
    return addendStrides(*this, strides).has_value();
  ArrayRef<int64_t> shape = shapeOf(getOperand(operand));
  return mergedStride(operand == 0 ? getLhsFree() : getRhsFree(), shape, strides) &&
         mergedStride(operand == 0 ? getLhsContract() : getRhsContract(), shape, strides);
}

SmallVector<int64_t> ContractOp::getDenseOrder(unsigned operand) {
  if (operand >= firstAddend)
    return llvm::to_vector(llvm::seq(getType().getRank()));
  SmallVector<int64_t> order(operand == 0 ? getLhsBatch() : getRhsBatch());
  llvm::append_range(order, operand == 0 ? getLhsFree() : getRhsFree());
  llvm::append_range(order, operand == 0 ? getLhsContract() : getRhsContract());
  return order;
}

bool ContractOp::addToResult(unsigned, Value value) {
  if (getAddends().size() == mostAddends || value.getType() != getType())
    return false;
  getAddendsMutable().append(value);
  return true;
}

/// An addend that lies as the result does is what the result accumulates to. Of several at one
/// place only one would be.
bool ContractOp::mayWriteOver(unsigned, unsigned operand) {
  return operand >= firstAddend && llvm::count(getOperands(), getOperand(operand)) == 1 &&
         stridesOf(getOperand(operand)) == rowMajorStrides(getType().getShape());
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
  bool accumulate = false;
  SmallVector<Attribute> addends;
  SmallVector<int64_t> strides;
  for (auto [place, addend] :
       llvm::zip_equal(ArrayRef(places.operands).drop_front(firstAddend), getAddends())) {
    if (place.getOffset() == places.results[0].getOffset()) {
      accumulate = true;
      continue;
    }
    addends.push_back(place);
    llvm::append_range(strides, *addendStrides(*this, stridesOf(addend)));
  }
  return CallContractOp::create(
      builder, getLoc(), places.operands[0], places.operands[1], places.results[0],
      places.scratchOffset, places.scratchBytes, batch, m, n, product(getLhsContract(), lhs),
      lhsCall, rhsCall, rowMajorStrides(out), accumulate, builder.getArrayAttr(addends), strides);
}

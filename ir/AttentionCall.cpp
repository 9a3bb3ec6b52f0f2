//===- AttentionCall.cpp - Attention as a library sees it -------------------------------------===//

#include "ir/Mtc.h"
#include "ir/Shape.h"
#include "ir/TensorBuilder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

/// A target's library, or its own code, may compute it for these.
static bool isCall(Value query) {
  Type element = typeOf(query).getElementType();
  return element.isF32() || element.isF64() || element.isF16() || element.isBF16();
}

/// Lines of queries, keys and values are contiguous; sums and offsets are dense; bias and mask may
/// have any strides.
template <typename Op> static bool takes(Op op, unsigned operand, ArrayRef<int64_t> strides) {
  Value value = op->getOperand(operand);
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.size() == 3)
    return strides == ArrayRef<int64_t>(rowMajorStrides(shape));
  return value == op.getBias() || value == op.getMask() || shape.back() == 1 || strides.back() == 1;
}

static SmallVector<int64_t> naturalOrder(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
}

/// A result's strides by the axes [batch, heads, length, width], where it has them in `order`.
static SmallVector<int64_t> resultStrides(Value result, ArrayRef<int64_t> order) {
  return pick(rowMajorStrides(shapeOf(result)), invertPermutationVector(order));
}

/// The strides of a bias or a mask, 0 along axes that repeat it; none where it is absent.
static SmallVector<int64_t> repeatedStrides(Value value) {
  if (!value)
    return {};
  SmallVector<int64_t> strides = stridesOf(value);
  for (auto [stride, extent] : llvm::zip_equal(strides, shapeOf(value)))
    stride = extent == 1 ? 0 : stride;
  return strides;
}

/// A permutation of a result whose axes are in `order` already, if it leaves the last in its place.
static bool permute(OpResult result, DenseI64ArrayAttr &order, ArrayRef<int64_t> permutation) {
  if (permutation.size() != 4 || permutation.back() != 3)
    return false;
  order = DenseI64ArrayAttr::get(result.getContext(), pick(order.asArrayRef(), permutation));
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(RankedTensorType::get(pick(type.getShape(), permutation), type.getElementType()));
  return true;
}

/// The placed form of either operation.
template <typename Op>
static Operation *buildPlaced(Op op, OpBuilder &builder, const CallPlaces &places, bool isGradient,
                              ArrayRef<int64_t> out, ArrayRef<int64_t> savedOut,
                              ArrayRef<int64_t> gradients) {
  auto array = [&](ArrayRef<AtAttr> list) {
    return builder.getArrayAttr(SmallVector<Attribute>(list.begin(), list.end()));
  };
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey());
  Cost cost = op.getCost();
  return CallAttentionOp::create(
      builder, op.getLoc(), isGradient, array(places.operands), array(places.results),
      places.scratchOffset, places.scratchBytes, q[0], q[1], k[1], q[2], k[2], q[3],
      shapeOf(op.getValue())[3], op.getScale(), op.getCausalAttr(), stridesOf(op.getQuery()),
      stridesOf(op.getKey()), stridesOf(op.getValue()), repeatedStrides(op.getBias()),
      repeatedStrides(op.getMask()), out, savedOut, gradients, cost.flops, cost.bytes);
}

bool AttentionOp::isLibraryCall() { return isCall(getQuery()); }

bool AttentionOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return takes(*this, operand, strides);
}

SmallVector<int64_t> AttentionOp::getDenseOrder(unsigned operand) {
  return naturalOrder(getOperand(operand));
}

bool AttentionOp::transposeResult(unsigned result, ArrayRef<int64_t> permutation) {
  DenseI64ArrayAttr order = DenseI64ArrayAttr::get(getContext(), getOutOrder());
  if (result != 0 || !permute(cast<OpResult>(getOut()), order, permutation))
    return false;
  setOutOrderAttr(order);
  return true;
}

Operation *AttentionOp::buildCall(OpBuilder &builder, const CallPlaces &places) {
  return buildPlaced(*this, builder, places, false, resultStrides(getOut(), getOutOrder()), {}, {});
}

bool AttentionGradientOp::isLibraryCall() { return isCall(getQuery()); }

bool AttentionGradientOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return takes(*this, operand, strides);
}

SmallVector<int64_t> AttentionGradientOp::getDenseOrder(unsigned operand) {
  return naturalOrder(getOperand(operand));
}

bool AttentionGradientOp::transposeResult(unsigned result, ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> orders[] = {getQueryOrder(), getKeyOrder(), getValueOrder()};
  StringAttr names[] = {getQueryOrderAttrName(), getKeyOrderAttrName(), getValueOrderAttrName()};
  auto order = DenseI64ArrayAttr::get(getContext(), orders[result]);
  if (!permute(getOperation()->getResult(result), order, permutation))
    return false;
  getOperation()->setAttr(names[result], order);
  return true;
}

Operation *AttentionGradientOp::buildCall(OpBuilder &builder, const CallPlaces &places) {
  SmallVector<int64_t> gradients = resultStrides(getDQuery(), getQueryOrder());
  llvm::append_range(gradients, resultStrides(getDKey(), getKeyOrder()));
  llvm::append_range(gradients, resultStrides(getDValue(), getValueOrder()));
  SmallVector<int64_t> savedOut;
  if (getOut())
    savedOut = stridesOf(getOut());
  return buildPlaced(*this, builder, places, true, stridesOf(getDOut()), savedOut, gradients);
}

//===- Formulas.cpp - Tensor functions shared by operator families ----------------------------===//

#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "ir/builders/Shape.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

Type computeType(TensorBuilder &b, Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
}

SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

Value perChannel(TensorBuilder &b, Value channel, ArrayRef<int64_t> shape) {
  return b.broadcast(channel, otherAxes(shape.size(), {1}), shape);
}

Value clip(TensorBuilder &b, Value x, Value low, Value high) {
  if (low)
    x = b.select(b.compare(Predicate::Le, x, low), low, x);
  if (high)
    x = b.select(b.compare(Predicate::Ge, x, high), high, x);
  return x;
}

Value safeRoot(TensorBuilder &b, Value x, double exponent) {
  Value zero = b.splat(x, 0.0), isZero = b.compare(Predicate::Eq, x, zero);
  Value inside = b.select(isZero, b.splat(x, 1.0), x);
  Value root = exponent == 0.5 ? b.sqrt(inside) : b.pow(inside, b.splat(x, exponent));
  return b.select(isZero, zero, root);
}

std::pair<Value, Value> topK(TensorBuilder &b, Value x, int64_t axis, int64_t k, bool smallest) {
  int64_t rank = typeOf(x).getRank();
  Value moved = b.transpose(x, axisLast(rank, axis));
  SmallVector<int64_t> shape(shapeOf(moved));
  shape.back() = k;
  auto op = TopKOp::create(b, RankedTensorType::get(shape, typeOf(x).getElementType()),
                           RankedTensorType::get(shape, b.getI64Type()), moved, smallest);
  SmallVector<int64_t> back = axisBack(rank, axis);
  return {b.transpose(op.getValues(), back), b.transpose(op.getIndices(), back)};
}

int64_t extentOver(Value x, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return count;
}

Value meanOver(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  Value sum = b.sum(x, axes);
  return b.mul(sum, b.splat(sum, 1.0 / static_cast<double>(extentOver(x, axes))));
}

Normalized normalize(TensorBuilder &b, Value x, ArrayRef<int64_t> axes, double epsilon,
                     int64_t ranks) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value mean = b.averageOverRanks(meanOver(b, x, axes), ranks);
  Value centred = b.sub(x, b.broadcast(mean, axes, shape));
  Value variance = b.averageOverRanks(meanOver(b, b.mul(centred, centred), axes), ranks);
  Value inverse = b.rsqrt(b.add(variance, b.splat(variance, epsilon)));
  return {b.mul(centred, b.broadcast(inverse, axes, shape)), mean, variance, inverse};
}

RootMeanSquareNormalized rootMeanSquareNormalize(TensorBuilder &b, Value x, ArrayRef<int64_t> axes,
                                                 double epsilon) {
  Value square = meanOver(b, b.mul(x, x), axes);
  Value inverse = b.rsqrt(b.add(square, b.splat(square, epsilon)));
  return {b.mul(x, b.broadcast(inverse, axes, shapeOf(x))), inverse};
}

static Value rowMaximum(TensorBuilder &b, Value x, int64_t axis) {
  return b.detach(b.reduce(ReductionKind::Max, x, {axis}));
}

Value softmax(TensorBuilder &b, Value x, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value exponential = b.exp(b.sub(x, b.broadcast(rowMaximum(b, x, axis), {axis}, shape)));
  return b.div(exponential, b.broadcast(b.sum(exponential, {axis}), {axis}, shape));
}

Value logSoftmax(TensorBuilder &b, Value x, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value shifted = b.sub(x, b.broadcast(rowMaximum(b, x, axis), {axis}, shape));
  return b.sub(shifted, b.broadcast(b.log(b.sum(b.exp(shifted), {axis})), {axis}, shape));
}

/// If all elements of a row are -inf, 0 is subtracted instead of the maximum. All exponentials
/// are then 0, and the division by 1 propagates a zero gradient.
Value safeSoftmax(TensorBuilder &b, Value x, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value maximum = rowMaximum(b, x, axis);
  Value masked = b.compare(Predicate::Eq, maximum, b.splat(maximum, -INFINITY));
  Value shift = b.select(masked, b.splat(maximum, 0.0), maximum);
  Value exponential = b.exp(b.sub(x, b.broadcast(shift, {axis}, shape)));
  Value sum = b.sum(exponential, {axis});
  Value divisor = b.select(masked, b.splat(sum, 1.0), sum);
  return b.div(exponential, b.broadcast(divisor, {axis}, shape));
}

} // namespace mtc::onnx

//===- Softmax.cpp - Softmax and its logarithm ------------------------------------------------===//
//
// The row's maximum is subtracted before the exponential. The result does not depend on it, so it
// is detached.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Softmax.h"
#include "frontend/convert/Converters.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

Type computeType(TensorBuilder &b, Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
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

/// Where all of a row is -inf, 0 is subtracted instead of the maximum: all exponentials are 0, and
/// so is all that the division by 1 passes back.
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

namespace {

using RowFunction = Value (*)(TensorBuilder &b, Value x, int64_t axis);

LogicalResult applyToRows(Conversion &node, RowFunction function, Value x, int64_t axis) {
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  Value y = b.cast(function(b, b.cast(x, computeType(b, element)), axis), element);
  return node.result(0, b.reshape(y, node.resultShape()));
}

void add(Converters &converters, StringRef name, RowFunction function) {
  // Up to version 12 the axes from `axis` on are one row.
  converters.add(name, 1, [function](Conversion &node) -> LogicalResult {
    int64_t axis = node.axis("axis", 1, node.rank(0));
    if (node.failed())
      return failure();
    int64_t rows = ShapedType::getNumElements(node.shape(0).take_front(axis));
    Value x = node.b.reshape(node.value(0), {rows, node.type(0).getNumElements() / rows});
    return applyToRows(node, function, x, 1);
  });
  converters.add(name, 13, [function](Conversion &node) -> LogicalResult {
    int64_t axis = node.axis("axis", -1, node.rank(0));
    if (node.failed())
      return failure();
    return applyToRows(node, function, node.value(0), axis);
  });
}

} // namespace

void registerSoftmaxConverters(Converters &converters) {
  add(converters, "Softmax", softmax);
  add(converters, "LogSoftmax", logSoftmax);
  converters.add("mtc::SafeSoftmax", 1, [](Conversion &node) {
    return applyToRows(node, safeSoftmax, node.value(0), node.integer("axis"));
  });
}

} // namespace mtc::onnx

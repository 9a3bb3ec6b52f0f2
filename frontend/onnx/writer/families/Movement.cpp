//===- Movement.cpp - Constants and data movement as ONNX nodes -------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Broadcasts a scalar or a tensor with extents of 1 when an operand needs all elements.
void defineCompact(Value value, GraphBuilder &b, const GraphValue &compact) {
  b.define(value, b.expand(compact, cast<RankedTensorType>(value.getType()).getShape()), compact);
}

void convertConstant(mtc::ConstantOp op, GraphBuilder &b) {
  Tensor tensor = Tensor::fromAttribute(op.getValue())->simplified();
  if (!tensor.isSplat())
    return b.define(op.getResult(), b.constant(tensor));
  Type element = tensor.type().getElementType();
  defineCompact(op.getResult(), b, b.constant(tensor.withType(b.typeOf({}, element))));
}

void convertIota(IotaOp op, GraphBuilder &b) {
  RankedTensorType type = op.getResult().getType();
  SmallVector<int64_t> shape(type.getRank(), 1);
  const int64_t axis = op.getAxis(), extent = shape[axis] = type.getDimSize(axis);
  Type number = IntegerType::get(b.getContext(), 64);
  GraphValue range =
      b.node("Range", {b.scalar(number, 0), b.scalar(number, extent), b.scalar(number, 1)},
             b.typeOf({extent}, number));
  defineCompact(op.getResult(), b, b.cast(b.reshape(range, shape), type.getElementType()));
}

/// Leading axes need no extents of 1, since operators align trailing axes.
void convertBroadcast(BroadcastOp op, GraphBuilder &b) {
  SmallVector<int64_t> shape = llvm::to_vector(op.getResult().getType().getShape());
  size_t leading = 0;
  for (int64_t axis : op.getAxes()) {
    shape[axis] = 1;
    if (axis == static_cast<int64_t>(leading))
      ++leading;
  }
  defineCompact(op.getResult(), b,
                b.reshape(b.get(op.getInput()), ArrayRef(shape).drop_front(leading)));
}

GraphValue convertReshape(ReshapeOp op, GraphBuilder &b) {
  return b.reshape(b.get(op.getInput()), op.getResult().getType().getShape());
}

GraphValue convertTranspose(TransposeOp op, GraphBuilder &b) {
  return b.transpose(b.get(op.getInput()), op.getPermutation());
}

GraphValue convertSlice(SliceOp op, GraphBuilder &b) {
  return b.slice(b.get(op.getInput()), op.getOffsets(), op.getStrides(),
                 op.getResult().getType().getShape());
}

/// Inserts `interior` values between the elements of an axis: [.., n, ..] becomes [.., n, 1, ..],
/// is padded to [.., n, 1 + interior, ..], and loses the values after the last element.
GraphValue insertBetween(GraphBuilder &b, const GraphValue &x, int64_t axis, int64_t interior,
                         const GraphValue &value) {
  const int64_t extent = x.shape()[axis];
  if (interior == 0 || extent < 2)
    return x;
  SmallVector<int64_t> split(x.shape()), merged(x.shape());
  split.insert(split.begin() + axis + 1, 1);
  SmallVector<int64_t> low(split.size(), 0), high(split.size(), 0);
  high[axis + 1] = interior;
  merged[axis] = extent * (1 + interior);
  GraphValue padded = b.reshape(b.pad(b.reshape(x, split), low, high, value), merged);
  SmallVector<int64_t> shape(merged), offsets(merged.size(), 0), strides(merged.size(), 1);
  shape[axis] -= interior;
  return b.slice(padded, offsets, strides, shape);
}

GraphValue convertPad(PadOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  auto type = b.typeOf({}, x.element());
  auto elements = DenseElementsAttr::get(type, cast<Attribute>(op.getValue()));
  GraphValue value = b.constant(*Tensor::fromAttribute(elements));
  for (auto [axis, interior] : llvm::enumerate(op.getInterior()))
    x = insertBetween(b, x, static_cast<int64_t>(axis), interior, value);
  return b.pad(x, op.getLow(), op.getHigh(), value);
}

GraphValue convertReverse(ReverseOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  if (op.getAxes().empty())
    return x;
  const size_t count = op.getAxes().size();
  SmallVector<int64_t> starts(count, -1), steps(count, -1),
      ends(count, std::numeric_limits<int64_t>::min());
  return b.same("Slice", {x, b.integers(starts), b.integers(ends), b.integers(op.getAxes()),
                          b.integers(steps)});
}

GraphValue convertConcatenate(ConcatenateOp op, GraphBuilder &b) {
  auto operands = llvm::map_to_vector(op.getInputs(), [&](Value input) { return b.get(input); });
  return b.node("Concat", operands, op.getResult().getType(),
                {{"axis", static_cast<int64_t>(op.getAxis())}});
}

} // namespace

void addMovementConversions(Conversions &conversions) {
  conversions.addDefining(convertConstant);
  conversions.addDefining(convertIota);
  conversions.addDefining(convertBroadcast);
  conversions.add(convertReshape);
  conversions.add(convertTranspose);
  conversions.add(convertSlice);
  conversions.add(convertPad);
  conversions.add(convertReverse);
  conversions.add(convertConcatenate);
}

} // namespace mtc::onnx

//===- Blocks.cpp - Packed integers and scales of blocks --------------------------------------===//

#include "frontend/onnx/operators/support/Blocks.h"

#include "ir/builders/Shape.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the elements before `shape` along each axis.
static Value leadingPart(TensorBuilder &b, Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  SmallVector<int64_t> zero(shape.size(), 0), one(shape.size(), 1);
  return b.slice(x, zero, shape, one);
}

/// Splits each byte into its integers along a new axis.
static Value splitBytes(TensorBuilder &b, Value x, int64_t axis, int64_t bits) {
  Type element = typeOf(x).getElementType();
  SmallVector<int64_t> shape(shapeOf(x));
  shape.insert(shape.begin() + axis, 8 / bits);
  SmallVector<Attribute> shifts;
  for (int64_t shift = 0; shift < 8; shift += bits)
    shifts.push_back(IntegerAttr::get(element, shift));
  auto type = RankedTensorType::get({8 / bits}, element);
  // Nodes of one shape share the broadcast, so it does not have the location of a node.
  TensorBuilder shared(b.getUnknownLoc(), b);
  shared.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
  Value shift = shared.broadcast(shared.constant(DenseElementsAttr::get(type, shifts)),
                                 otherAxes(shape.size(), {axis}), shape);
  Value shifted = ShiftRightOp::create(b, b.broadcast(x, {axis}, shape), shift);
  return b.logicalAnd(shifted, b.splat(shifted, static_cast<double>((1 << bits) - 1)));
}

Value spreadBlocks(TensorBuilder &b, Value x, int64_t axis, int64_t block,
                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> repeated(shapeOf(x)), whole = repeated;
  repeated.insert(repeated.begin() + axis + 1, block);
  whole[axis] *= block;
  return leadingPart(b, b.reshape(b.broadcast(x, {axis + 1}, repeated), whole), shape);
}

Value unpackBits(TensorBuilder &b, Value x, int64_t bits, int64_t count) {
  SmallVector<int64_t> shape(shapeOf(x));
  if (bits < 8) {
    x = splitBytes(b, x, typeOf(x).getRank(), bits);
    shape.back() *= 8 / bits;
    x = b.reshape(x, shape);
  }
  shape.back() = count;
  return leadingPart(b, x, shape);
}

Value unpackPlanes(TensorBuilder &b, Value x, int64_t axis, int64_t bits) {
  if (bits == 8)
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] *= 8 / bits;
  return b.reshape(splitBytes(b, x, axis, bits), shape);
}

Value signExtend(TensorBuilder &b, Value x, int64_t bits) {
  Value sign = b.splat(x, static_cast<double>(1 << (bits - 1)));
  return b.sub(XorOp::create(b, x, sign), sign);
}

} // namespace mtc::onnx

//===- Indices.cpp - Multi-dimensional indices and axis permutations --------------------------===//

#include "frontend/onnx/operators/support/Indices.h"

using namespace mlir;

namespace mtc::onnx {

/// Extracts component `i` of the tuples along the last axis.
static Value component(TensorBuilder &b, Value indices, int64_t i) {
  SmallVector<int64_t> sizes(shapeOf(indices)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets.back() = i;
  sizes.back() = 1;
  return b.reshape(b.slice(indices, offsets, sizes, strides), ArrayRef(sizes).drop_back());
}

Value linearize(TensorBuilder &b, Value indices, ArrayRef<int64_t> extents) {
  assert(shapeOf(indices).back() == static_cast<int64_t>(extents.size()) && "one for each extent");
  if (extents.size() == 1)
    return component(b, indices, 0);
  indices = b.cast(indices, b.getI64Type());
  Value position, valid;
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  int64_t stride = count;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    stride /= std::max<int64_t>(extent, 1);
    Value index = component(b, indices, i), zero = b.splat(index, 0.0);
    Value wrapped = b.select(b.compare(Predicate::Lt, index, zero),
                             b.add(index, b.splat(index, extent)), index);
    Value inside = b.logicalAnd(b.compare(Predicate::Ge, wrapped, zero),
                                b.compare(Predicate::Lt, wrapped, b.splat(wrapped, extent)));
    Value part = stride == 1 ? wrapped : b.mul(wrapped, b.splat(wrapped, stride));
    position = position ? b.add(position, part) : part;
    valid = valid ? b.logicalAnd(valid, inside) : inside;
  }
  return b.select(valid, position, b.splat(position, count));
}

/// Normalizes an index in [-extent, extent) to [0, extent); returns nothing if it is out of bounds.
static std::optional<int64_t> wrapIndex(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent)
    return std::nullopt;
  return index < 0 ? index + extent : index;
}

std::optional<SmallVector<int64_t>> linearizeConstant(ArrayRef<int64_t> tuples,
                                                      ArrayRef<int64_t> extents) {
  SmallVector<int64_t> positions;
  for (size_t i = 0; i < tuples.size(); i += extents.size()) {
    int64_t position = 0;
    for (auto [component, extent] : llvm::zip(tuples.slice(i, extents.size()), extents)) {
      std::optional<int64_t> index = wrapIndex(component, extent);
      if (!index)
        return std::nullopt;
      position = position * extent + *index;
    }
    positions.push_back(position);
  }
  return positions;
}

Value gatherEvenly(TensorBuilder &b, Value x, int64_t axis, ArrayRef<int64_t> indices,
                   ArrayRef<int64_t> indexShape) {
  SmallVector<int64_t> positions;
  for (int64_t index : indices) {
    std::optional<int64_t> position = wrapIndex(index, shapeOf(x)[axis]);
    if (!position)
      return {};
    positions.push_back(*position);
  }
  int64_t step = positions.size() > 1 ? positions[1] - positions[0] : 0;
  for (size_t i = 1; i < positions.size(); ++i)
    if (step < 0 || positions[i] - positions[i - 1] != step)
      return {};

  SmallVector<int64_t> sizes(shapeOf(x)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[axis] = positions.front();
  strides[axis] = std::max<int64_t>(step, 1);
  sizes[axis] = step == 0 ? 1 : static_cast<int64_t>(positions.size());
  auto withAxis = [&](ArrayRef<int64_t> extents) {
    SmallVector<int64_t> shape(shapeOf(x).take_front(axis));
    llvm::append_range(shape, extents);
    llvm::append_range(shape, shapeOf(x).drop_front(axis + 1));
    return shape;
  };
  SmallVector<int64_t> single(indexShape.size(), 1);
  Value part = ArrayRef(sizes) == shapeOf(x) ? x : b.slice(x, offsets, sizes, strides);
  if (step == 0)
    return b.broadcastTo(b.reshape(part, withAxis(single)), withAxis(indexShape));
  return b.reshape(part, withAxis(indexShape));
}

SmallVector<int64_t> axesFirst(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> order(axes);
  for (int64_t axis : llvm::seq<int64_t>(rank))
    if (!llvm::is_contained(axes, axis))
      order.push_back(axis);
  return order;
}

SmallVector<int64_t> axisLast(int64_t rank, int64_t axis) {
  SmallVector<int64_t> permutation;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      permutation.push_back(i);
  permutation.push_back(axis);
  return permutation;
}

SmallVector<int64_t> axisBack(int64_t rank, int64_t axis) {
  SmallVector<int64_t> permutation;
  for (int64_t i = 0; i + 1 < rank; ++i)
    permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, rank - 1);
  return permutation;
}

Value reverseSequences(TensorBuilder &b, Value x, Value lengths) {
  ArrayRef<int64_t> shape = shapeOf(x).take_front(2);
  Value place = b.iota(RankedTensorType::get(shape, b.getI64Type()), 1);
  Value length = b.broadcast(b.cast(lengths, b.getI64Type()), {1}, shape);
  Value mirrored = b.sub(b.sub(length, b.splat(length, 1.0)), place);
  Value source = b.select(b.compare(Predicate::Lt, place, length), mirrored, place);
  return b.gather(x, source, 1, 1);
}

} // namespace mtc::onnx

//===- Indices.cpp - Tuples of indices as one
//----------------------------------------------------===//

#include "frontend/convert/Indices.h"

using namespace mlir;

namespace mtc::onnx {

/// Component `i` of the tuples along the last axis.
static Value component(TensorBuilder &b, Value indices, int64_t i) {
  SmallVector<int64_t> sizes(shapeOf(indices)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets.back() = i;
  sizes.back() = 1;
  return b.reshape(b.slice(indices, offsets, sizes, strides), ArrayRef(sizes).drop_back());
}

Value linearise(TensorBuilder &b, Value indices, ArrayRef<int64_t> extents) {
  assert(shapeOf(indices).back() == static_cast<int64_t>(extents.size()) && "one for each extent");
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

} // namespace mtc::onnx

//===- Rotation.cpp - Rotary position embedding -----------------------------------------------===//

#include "frontend/onnx/operators/support/Rotation.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the elements [offset, offset + count * stride) of the last axis.
static Value sliceLast(TensorBuilder &b, Value x, int64_t offset, int64_t count,
                       int64_t stride = 1) {
  SmallVector<int64_t> sizes(shapeOf(x)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  sizes.back() = count;
  offsets.back() = offset;
  strides.back() = stride;
  return b.slice(x, offsets, sizes, strides);
}

Value rotate(TensorBuilder &b, Value x, Value cosine, Value sine, bool interleaved) {
  int64_t size = shapeOf(x).back(), half = shapeOf(cosine).back(), rotated = 2 * half;
  Value first = sliceLast(b, x, 0, half, interleaved ? 2 : 1);
  Value second = interleaved ? sliceLast(b, x, 1, half, 2) : sliceLast(b, x, half, half);
  Value real = b.sub(b.mul(cosine, first), b.mul(sine, second));
  Value imaginary = b.add(b.mul(sine, first), b.mul(cosine, second));
  SmallVector<int64_t> pair(shapeOf(first)), whole(shapeOf(x));
  pair.push_back(1);
  whole.back() = rotated;
  Value y =
      interleaved
          ? b.reshape(b.concatenate({b.reshape(real, pair), b.reshape(imaginary, pair)}, 4), whole)
          : b.concatenate({real, imaginary}, 3);
  return rotated < size ? b.concatenate({y, sliceLast(b, x, rotated, size - rotated)}, 3) : y;
}

Value consecutiveRows(TensorBuilder &b, Value table, int64_t length, Value offset) {
  if (!offset)
    return b.slice(table, {0, 0}, {length, shapeOf(table)[1]}, {1, 1});
  Value positions = b.iota(RankedTensorType::get(length, b.getI64Type()), 0);
  offset = b.reshape(b.cast(offset, b.getI64Type()), {});
  return b.gather(table, b.add(positions, b.broadcastTo(offset, length)), 0, 0);
}

} // namespace mtc::onnx

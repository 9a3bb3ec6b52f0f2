//===- RotaryEmbedding.cpp - RotaryEmbedding --------------------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/support/Conversion.h"
#include "frontend/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Rotates pairs of a head's first `count` elements by an angle that depends on the position. Pairs
/// are elements i and i + count / 2, or adjacent elements if interleaved.
struct Rotation {
  int64_t heads, size; ///< For X [B, heads, length, size] or [B, length, heads · size].
  int64_t count;
  bool isInterleaved;
};

FailureOr<Rotation> readRotation(NodeView &node) {
  if (!node.hasRank(0, 3, 4))
    return failure();
  bool isInterleaved = node.flag("interleaved", false);
  int64_t count = node.integer("rotary_embedding_dim", 0), heads = node.integer("num_heads", 0);
  int64_t size = node.shape(0).back();
  if (node.rank(0) == 3 && (heads < 1 || size % heads != 0))
    return node.failure("attribute num_heads = " + Twine(heads) + ", expected a divisor of " +
                        Twine(size) + " for an operand of rank 3");
  if (node.rank(0) == 3)
    size /= heads;
  if (count == 0)
    count = size;
  int64_t half = count / 2;
  for (size_t table : {1, 2})
    if (!node.hasRank(table, node.has(3) ? 2 : 3, node.has(3) ? 2 : 3))
      return failure();
  if (count < 0 || count > size || count % 2 != 0 || node.shape(1).back() != half ||
      node.shape(2).back() != half)
    return node.failure("rotates " + Twine(count) + " of " + Twine(size) + " elements by " +
                        Twine(node.shape(1).back()) +
                        " angles, expected an even number and half as many angles");
  if (node.failed())
    return failure();
  return Rotation{heads, size, count, isInterleaved};
}

/// Sine and cosine tables are [positions, half] with position_ids [B, length], otherwise [B,
/// length, half].
LogicalResult inferRotaryEmbedding(Inference &node) {
  if (failed(readRotation(node)))
    return failure();
  Extents positions{node.dim(0, 0), node.dim(0, node.rank(0) == 3 ? 1 : 2)};
  auto arePositions = [&](size_t operand, ArrayRef<int64_t> shape) {
    if (shape == ArrayRef<int64_t>(positions))
      return true;
    (void)node.failure(Twine(node.operandName(operand)) + " has shape " +
                       shapeText(node.shape(operand)) + ", expected positions " +
                       shapeText(positions));
    return false;
  };
  bool fits = node.has(3) ? arePositions(3, node.shape(3))
                          : arePositions(1, node.shape(1).drop_back()) &&
                                arePositions(2, node.shape(2).drop_back());
  if (!fits)
    return failure();
  return node.result(0, node.type(0));
}

/// Returns the elements [offset, offset + count * stride) of the last axis.
Value sliceLast(TensorBuilder &b, Value x, int64_t offset, int64_t count, int64_t stride = 1) {
  SmallVector<int64_t> sizes(shapeOf(x)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  sizes.back() = count;
  offsets.back() = offset;
  strides.back() = stride;
  return b.slice(x, offsets, sizes, strides);
}

LogicalResult convertRotaryEmbedding(Conversion &node) {
  FailureOr<Rotation> rotation = readRotation(node);
  if (failed(rotation))
    return failure();
  auto [heads, size, rotated, interleaved] = *rotation;
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (node.rank(0) == 3)
    x = b.reshape(x, {node.dim(0, 0), node.dim(0, 1), heads, size});
  int64_t headAxis = node.rank(0) == 3 ? 2 : 1, half = rotated / 2;
  Value first = sliceLast(b, x, 0, half, interleaved ? 2 : 1);
  Value second = interleaved ? sliceLast(b, x, 1, half, 2) : sliceLast(b, x, half, half);
  auto angle = [&](size_t operand) {
    Value table = node.value(operand);
    if (node.has(3))
      table = b.gather(table, node.value(3), 0, 0);
    return b.broadcast(table, {headAxis}, shapeOf(first));
  };
  Value cosine = angle(1), sine = angle(2);
  Value real = b.sub(b.mul(cosine, first), b.mul(sine, second));
  Value imaginary = b.add(b.mul(sine, first), b.mul(cosine, second));
  SmallVector<int64_t> pair(shapeOf(first)), whole(shapeOf(x));
  pair.push_back(1);
  whole.back() = rotated;
  Value y =
      interleaved
          ? b.reshape(b.concatenate({b.reshape(real, pair), b.reshape(imaginary, pair)}, 4), whole)
          : b.concatenate({real, imaginary}, 3);
  if (rotated < size)
    y = b.concatenate({y, sliceLast(b, x, rotated, size - rotated)}, 3);
  return node.result(0, b.reshape(y, node.resultShape()));
}

} // namespace

void registerRotaryEmbeddingOperators(Operators &operators) {
  operators.add("RotaryEmbedding", 23,
                {.infer = inferRotaryEmbedding, .convert = convertRotaryEmbedding});
}

} // namespace mtc::onnx

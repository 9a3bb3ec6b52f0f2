//===- RotaryEmbedding.cpp - RotaryEmbedding --------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Rotation.h"

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

LogicalResult convertRotaryEmbedding(Conversion &node) {
  FailureOr<Rotation> rotation = readRotation(node);
  if (failed(rotation))
    return failure();
  auto [heads, size, rotated, interleaved] = *rotation;
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (node.rank(0) == 3)
    x = b.reshape(x, {node.dim(0, 0), node.dim(0, 1), heads, size});
  int64_t headAxis = node.rank(0) == 3 ? 2 : 1;
  SmallVector<int64_t> halves(shapeOf(x));
  halves.back() = rotated / 2;
  auto angle = [&](size_t operand) {
    Value table = node.value(operand);
    if (node.has(3))
      table = b.gather(table, node.value(3), 0, 0);
    return b.broadcast(table, {headAxis}, halves);
  };
  Value cosine = angle(1), sine = angle(2);
  Value y = rotate(b, x, cosine, sine, interleaved);
  return node.result(0, b.reshape(y, node.resultShape()));
}

//===--- RotaryEmbedding of onnxruntime -------------------------------------------------------===//

/// Reads the attributes and checks the tables, cos_cache and sin_cache [positions, half], operands
/// 2 and 3. Without rotary_embedding_dim, tables cover a whole head.
FailureOr<Rotation> readTableRotation(NodeView &node) {
  if (!node.hasRank(0, 3, 4) || !node.hasRank(2, 2, 2) || !node.hasShape(3, node.shape(2)))
    return failure();
  bool isInterleaved = node.flag("interleaved", false), isSplit = node.rank(0) == 4;
  int64_t count = node.integer("rotary_embedding_dim", 0), heads = node.integer("num_heads", 0);
  if (node.flag("is_packed_batching", false))
    return node.failure("attribute is_packed_batching = 1 is not supported; expected sequences of "
                        "one length");
  if (node.floating("scale", 1.0) != 1.0)
    return node.failure("attribute scale other than 1 is not supported: onnxruntime ignores it");
  if (node.failed())
    return failure();
  int64_t columns = node.shape(0).back(), rotated = 2 * node.dim(2, 1);
  if (isSplit)
    heads = node.dim(0, 1);
  else if (heads == 0 && count == 0 && rotated > 0)
    heads = columns / rotated;
  if (!isSplit && (heads < 1 || columns % heads != 0))
    return node.failure("attribute num_heads = " + Twine(heads) + ", expected a divisor of " +
                        Twine(columns) + " for an operand of rank 3");
  int64_t size = isSplit ? columns : columns / heads;
  if (count == 0)
    count = size;
  if (count < 0 || count > size || count != rotated)
    return node.failure("rotates " + Twine(count) + " of " + Twine(size) + " elements by " +
                        Twine(node.dim(2, 1)) +
                        " angles, expected an even number and half as many angles");
  return Rotation{heads, size, count, isInterleaved};
}

/// Positions are [B, length], or one offset of the first position.
LogicalResult inferTableRotation(Inference &node) {
  if (failed(readTableRotation(node)))
    return failure();
  Extents positions{node.dim(0, 0), node.dim(0, node.rank(0) == 3 ? 1 : 2)};
  if (node.shape(1) != ArrayRef<int64_t>(1) && node.shape(1) != ArrayRef<int64_t>(positions))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected [1] or " + shapeText(positions));
  return node.result(0, node.type(0));
}

LogicalResult convertTableRotation(Conversion &node) {
  FailureOr<Rotation> rotation = readTableRotation(node);
  if (failed(rotation))
    return failure();
  TensorBuilder &b = node.b;
  bool isSplit = node.rank(0) == 4, hasOffset = node.rank(1) == 1;
  int64_t batch = node.dim(0, 0), length = node.dim(0, isSplit ? 2 : 1), headAxis = isSplit ? 1 : 2;
  Value x = node.value(0);
  if (!isSplit)
    x = b.reshape(x, {batch, length, rotation->heads, rotation->size});
  SmallVector<int64_t> halves(shapeOf(x));
  halves.back() = rotation->count / 2;
  auto angle = [&](size_t operand) {
    Value table = node.value(operand);
    if (hasOffset)
      return b.broadcast(consecutiveRows(b, table, length, node.value(1)), {0, headAxis}, halves);
    return b.broadcast(b.gather(table, node.value(1), 0, 0), {headAxis}, halves);
  };
  Value cosine = angle(2), sine = angle(3);
  Value y = rotate(b, x, cosine, sine, rotation->isInterleaved);
  return node.result(0, b.reshape(y, node.resultShape()));
}

} // namespace

void addRotaryEmbeddingOperators(Operators &operators) {
  operators.add("RotaryEmbedding", 23,
                {.infer = inferRotaryEmbedding,
                 .convert = convertRotaryEmbedding,
                 .roles = {{1, OperandRole::AngleTable}, {2, OperandRole::AngleTable}}});
  operators.add("com.microsoft::RotaryEmbedding", 1,
                {.infer = inferTableRotation,
                 .convert = convertTableRotation,
                 .roles = {{2, OperandRole::AngleTable}, {3, OperandRole::AngleTable}}});
}

} // namespace mtc::onnx

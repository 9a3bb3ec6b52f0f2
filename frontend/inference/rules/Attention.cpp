//===- Attention.cpp - Attention and rotary embedding: types only -----------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/inference/Inference.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Heads, length and head size of Q, K or V: [B, heads, length, size], or [B, length, heads · size]
/// with the number of heads in an attribute.
struct Heads {
  int64_t batch, heads, length, size;
};

FailureOr<Heads> headsOf(Inference &node, size_t operand, StringRef attribute) {
  ArrayRef<int64_t> shape = node.shape(operand);
  if (!node.hasRank(operand, 3, 4))
    return failure();
  if (shape.size() == 4)
    return Heads{shape[0], shape[1], shape[2], shape[3]};
  int64_t heads = node.integer(attribute);
  if (node.failed())
    return failure();
  if (heads < 1 || shape[2] % heads != 0)
    return node.failure("attribute " + attribute + " = " + Twine(heads) + " does not divide " +
                        Twine(shape[2]) + " columns of " + node.operandName(operand));
  return Heads{shape[0], heads, shape[1], shape[2] / heads};
}

/// Y as Q with V's head size; present key and value; the matrix of scores.
LogicalResult inferAttention(Inference &node) {
  for (size_t i : {1, 2})
    if (!node.hasRank(i, node.rank(0), node.rank(0)))
      return failure();
  FailureOr<Heads> q = headsOf(node, 0, "q_num_heads"), k = failure(), v = failure();
  if (succeeded(q))
    k = headsOf(node, 1, "kv_num_heads");
  if (succeeded(k))
    v = headsOf(node, 2, "kv_num_heads");
  if (failed(q) || failed(k) || failed(v))
    return failure();
  if (q->batch != k->batch || q->batch != v->batch || k->heads != v->heads ||
      k->length != v->length || q->size != k->size || k->heads == 0 || q->heads % k->heads != 0)
    return node.failure("operands of shapes " + shapeText(node.shape(0)) + ", " +
                        shapeText(node.shape(1)) + ", " + shapeText(node.shape(2)) +
                        " do not fit as query, key and value");
  int64_t past = node.has(4) ? (node.hasRank(4, 4, 4) ? node.dim(4, 2) : 0) : 0;
  int64_t total = past + k->length;
  if (node.failed())
    return failure();
  if (node.has(3)) {
    Extents scores{q->batch, q->heads, q->length, total};
    std::optional<Extents> both = broadcastShapes(scores, node.shape(3));
    // Version 24 also lets a mask be shorter than the keys.
    bool shorter = node.rank(3) >= 2 && node.rank(3) <= 4 && node.shape(3).back() < total &&
                   node.version() >= 24;
    if ((!both || *both != scores) && !shorter)
      return node.failure(Twine(node.operandName(3)) + " has shape " + shapeText(node.shape(3)) +
                          ", which does not broadcast to " + shapeText(scores));
  }
  int64_t columns;
  if (llvm::MulOverflow(q->heads, v->size, columns))
    return node.failure("has more elements than memory can hold");
  Extents y = node.rank(0) == 4 ? Extents{q->batch, q->heads, q->length, v->size}
                                : Extents{q->batch, q->length, columns};
  Type element = node.elementType(0);
  return success(
      succeeded(node.result(0, element, y)) &&
      succeeded(node.result(1, node.elementType(1), {k->batch, k->heads, total, k->size})) &&
      succeeded(node.result(2, node.elementType(2), {v->batch, v->heads, total, v->size})) &&
      succeeded(node.result(3, element, {q->batch, q->heads, q->length, total})));
}

/// X [B, heads, length, size] or [B, length, heads · size]. Tables of angles [positions, half] with
/// position_ids [B, length]; without them [B, length, half].
LogicalResult inferRotaryEmbedding(Inference &node) {
  node.flag("interleaved", false);
  node.integer("rotary_embedding_dim", 0);
  if (!node.hasRank(0, 3, 4))
    return failure();
  int64_t heads = node.integer("num_heads", 0);
  if (node.rank(0) == 3 && (heads < 1 || node.dim(0, 2) % heads != 0))
    return node.failure("attribute num_heads = " + Twine(heads) + ", expected a divisor of " +
                        Twine(node.dim(0, 2)) + " for an operand of rank 3");
  Extents positions{node.dim(0, 0), node.dim(0, node.rank(0) == 3 ? 1 : 2)};
  auto arePositions = [&](size_t operand, ArrayRef<int64_t> shape) {
    if (shape == ArrayRef<int64_t>(positions))
      return true;
    (void)node.failure(Twine(node.operandName(operand)) + " has shape " +
                       shapeText(node.shape(operand)) + ", expected positions " +
                       shapeText(positions));
    return false;
  };
  for (size_t table : {1, 2}) {
    int64_t rank = node.has(3) ? 2 : 3;
    if (!node.hasRank(table, rank, rank) ||
        (!node.has(3) && !arePositions(table, node.shape(table).drop_back())))
      return failure();
  }
  if (node.has(3) && !arePositions(3, node.shape(3)))
    return failure();
  return node.result(0, node.type(0));
}

} // namespace

void registerAttentionRules(Registry &registry) {
  registry.add("Attention", 23, inferAttention);
  registry.add("Attention", 24, inferAttention);
  registry.add("RotaryEmbedding", 23, inferRotaryEmbedding);
}

} // namespace mtc::onnx

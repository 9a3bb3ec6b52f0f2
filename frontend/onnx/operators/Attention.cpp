//===- Attention.cpp - Attention --------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/AttentionOperands.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/DotProductAttention.h"
#include "frontend/onnx/operators/support/Inference.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Infers Y (shaped as Q, with V's head size), present key and value, and the score matrix.
LogicalResult inferAttention(Inference &node) {
  FailureOr<AttentionOperands> operands = AttentionOperands::read(node);
  if (failed(operands) || failed(AttentionAttributes::read(node, *operands)))
    return failure();
  const auto &[q, k, v, past] = *operands;
  int64_t total = operands->keyLength();
  if (!node.hasShape(6, {q.batch}))
    return failure();
  if (node.has(3)) {
    Extents scores{q.batch, q.heads, q.length, total};
    std::optional<Extents> both = broadcastShapes(scores, node.shape(3));
    // From version 24 on, a mask may be shorter than the keys.
    bool shorter = node.rank(3) >= 2 && node.rank(3) <= 4 && node.shape(3).back() < total &&
                   node.version() >= 24;
    if ((!both || *both != scores) && !shorter)
      return node.failure(Twine(node.operandName(3)) + " has shape " + shapeText(node.shape(3)) +
                          ", which does not broadcast to " + shapeText(scores));
  }
  int64_t columns;
  if (llvm::MulOverflow(q.heads, v.size, columns))
    return node.failure("has more elements than memory can hold");
  Extents y = node.rank(0) == 4 ? Extents{q.batch, q.heads, q.length, v.size}
                                : Extents{q.batch, q.length, columns};
  Type element = node.elementType(0);
  return success(
      succeeded(node.result(0, element, y)) &&
      succeeded(node.result(1, node.elementType(1), {k.batch, k.heads, total, k.size})) &&
      succeeded(node.result(2, node.elementType(2), {v.batch, v.heads, total, v.size})) &&
      succeeded(node.result(3, element, {q.batch, q.heads, q.length, total})));
}

//===--- Conversion ---------------------------------------------------------------------------===//

/// Extends a mask that is shorter than the keys; the additional keys are masked.
Value paddedMask(Conversion &node, int64_t keyLength) {
  Value mask = node.value(3);
  int64_t missing = shapeOf(mask).back() == 1 ? 0 : keyLength - shapeOf(mask).back();
  if (missing == 0)
    return mask;
  SmallVector<int64_t> none(node.rank(3), 0), high(node.rank(3), 0);
  high.back() = missing;
  return node.b.pad(mask, none, high, none, node.elementType(3).isInteger(1) ? 0.0 : -INFINITY);
}

/// Adds attn_mask, which is boolean or added to the scores, and nonpad_kv_seqlen, the number of
/// keys of each entry of the batch.
void addMasks(Conversion &node, DotProductAttention &attention) {
  TensorBuilder &b = node.b;
  int64_t batch = shapeOf(attention.query)[0], keyLength = shapeOf(attention.key)[2];
  if (node.has(3)) {
    Value mask = paddedMask(node, keyLength);
    if (node.elementType(3).isInteger(1))
      attention.kept = mask;
    else
      attention.biases.push_back(mask);
  }
  if (!node.has(6))
    return;
  auto byBatch = RankedTensorType::get({batch, keyLength}, b.getI64Type());
  Value lengths = b.broadcast(b.cast(node.value(6), b.getI64Type()), {1}, byBatch.getShape());
  Value tokens =
      b.reshape(b.compare(Predicate::Lt, b.iota(byBatch, 1), lengths), {batch, 1, 1, keyLength});
  if (attention.kept) {
    Extents both = *broadcastShapes(shapeOf(attention.kept), shapeOf(tokens));
    tokens = b.logicalAnd(b.broadcastTo(attention.kept, both), b.broadcastTo(tokens, both));
  }
  attention.kept = tokens;
}

LogicalResult convertAttention(Conversion &node) {
  FailureOr<AttentionOperands> operands = AttentionOperands::read(node);
  if (failed(operands))
    return failure();
  FailureOr<AttentionAttributes> attributes = AttentionAttributes::read(node, *operands);
  if (failed(attributes))
    return failure();
  TensorBuilder &b = node.b;
  DotProductAttention attention{.query = splitHeads(b, node.value(0), operands->query.heads),
                                .key = splitHeads(b, node.value(1), operands->key.heads),
                                .value = splitHeads(b, node.value(2), operands->value.heads),
                                .scale = attributes->scale,
                                .softcap = attributes->softcap,
                                .softmaxType = attributes->softmaxType};
  if (operands->past > 0) {
    attention.key = b.concatenate({node.value(4), attention.key}, 2);
    attention.value = b.concatenate({node.value(5), attention.value}, 2);
  }
  if (attributes->isCausal)
    attention.causal = operands->past;
  addMasks(node, attention);
  std::optional<DotProductAttention::Stage> stage;
  if (node.wants(3))
    stage = static_cast<DotProductAttention::Stage>(attributes->outputMode);
  auto [output, scores] = attention.build(node.program(), b, stage);
  if (node.rank(0) == 3)
    output = joinHeads(b, output);
  return success(succeeded(node.result(0, output)) && succeeded(node.result(1, attention.key)) &&
                 succeeded(node.result(2, attention.value)) &&
                 (!scores || succeeded(node.result(3, scores))));
}

} // namespace

void addAttentionOperators(Operators &operators) {
  operators.add("Attention", 23, {.infer = inferAttention, .convert = convertAttention});
}

} // namespace mtc::onnx

//===- AttentionOperands.cpp - Operands and attributes of Attention ---------------------------===//

#include "frontend/onnx/operators/support/AttentionOperands.h"

#include "frontend/onnx/dialect/Shapes.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

static FailureOr<Heads> headsOf(NodeView &node, size_t operand, StringRef attribute) {
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

FailureOr<AttentionOperands> AttentionOperands::read(NodeView &node) {
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
                        " do not match as query, key and value");
  int64_t past = node.has(4) && node.hasRank(4, 4, 4) ? node.dim(4, 2) : 0;
  if (node.failed() || (node.has(4) && !node.hasShape(4, {k->batch, k->heads, past, k->size})) ||
      (node.has(5) && !node.hasShape(5, {v->batch, v->heads, past, v->size})))
    return failure();
  return AttentionOperands{*q, *k, *v, past};
}

FailureOr<AttentionAttributes> AttentionAttributes::read(NodeView &node,
                                                         const AttentionOperands &operands) {
  double scale = 1.0 / std::sqrt(static_cast<double>(operands.query.size));
  AttentionAttributes attributes{node.flag("is_causal", false), node.floating("softcap", 0.0),
                                 node.floating("scale", scale),
                                 node.integer("qk_matmul_output_mode", 0),
                                 node.elementTypeOf("softmax_precision", node.elementType(0))};
  if (!node.failed() && (attributes.outputMode < 0 || attributes.outputMode > 3))
    return node.failure("attribute qk_matmul_output_mode = " + Twine(attributes.outputMode) +
                        ", expected 0..3");
  if (node.failed())
    return failure();
  if (!std::isfinite(attributes.scale))
    return node.failure("has heads of size 0, for which the scale 1 / sqrt(size) is infinite");
  return attributes;
}

} // namespace mtc::onnx

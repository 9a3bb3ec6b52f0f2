//===- AttentionParts.cpp - Decomposition of attention into core operations -------------------===//

#include "ir/ops/AttentionParts.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

Type mtc::attentionSumType(Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

Value AttentionParts::wide(Value x) {
  return b.cast(x, attentionSumType(typeOf(query).getElementType()));
}

Value AttentionParts::likeLines(Value x) { return b.cast(x, typeOf(query).getElementType()); }

Value AttentionParts::group(Value x) {
  return b.reshape(x, {batch, keyHeads, heads / keyHeads, queries, shapeOf(x)[3]});
}

Value AttentionParts::ungroup(Value x) {
  return b.reshape(x, {batch, heads, queries, shapeOf(x)[4]});
}

Value AttentionParts::product(Value queryLines, Value keyLines) {
  return ungroup(b.contract(group(queryLines), keyLines, {0, 1}, {0, 1}, {4}, {3}));
}

Value AttentionParts::scores() {
  Value scores = wide(product(query, key));
  scores = b.mul(scores, b.splat(scores, scale));
  ArrayRef<int64_t> shape = shapeOf(scores);
  if (bias)
    scores = b.add(scores, b.broadcastTo(wide(bias), shape));
  Value none = b.splat(scores, -INFINITY);
  if (mask)
    scores = b.select(b.broadcastTo(mask, shape), scores, none);
  if (causal) {
    auto positions = RankedTensorType::get({queries, keys}, b.getI64Type());
    Value row = b.iota(positions, 0), column = b.iota(positions, 1);
    Value last = b.add(row, b.splat(row, static_cast<double>(*causal)));
    scores = b.select(b.broadcastTo(b.compare(Predicate::Le, column, last), shape), scores, none);
  }
  return scores;
}

/// Computes log(sum of e^(x - m)) + m with the row's maximum m, or m = 0 if all x are -inf, where
/// the sum is 0.
Value AttentionParts::logsumexp(Value scores) {
  Value maximum = b.detach(b.reduce(ReductionKind::Max, scores, {3}));
  Value isNone = b.compare(Predicate::Eq, maximum, b.splat(maximum, -INFINITY));
  Value shift = b.select(isNone, b.splat(maximum, 0.0), maximum);
  Value sum = b.sum(b.exp(b.sub(scores, repeat(shift, scores))), {3});
  Value safe = b.select(isNone, b.splat(sum, 1.0), sum);
  return b.select(isNone, b.splat(sum, INFINITY), b.add(b.log(safe), shift));
}

Value AttentionParts::weights(Value scores, Value logsumexp) {
  return b.exp(b.sub(scores, repeat(logsumexp, scores)));
}

Value AttentionParts::mix(Value weights, Value lines) {
  return ungroup(b.contract(group(likeLines(weights)), lines, {0, 1}, {0, 1}, {4}, {2}));
}

Value AttentionParts::weightGradients(Value dOut) { return wide(product(dOut, value)); }

Value AttentionParts::mixQueries(Value weights, Value lines) {
  return b.contract(group(likeLines(weights)), group(lines), {0, 1}, {0, 1}, {2, 3}, {2, 3});
}

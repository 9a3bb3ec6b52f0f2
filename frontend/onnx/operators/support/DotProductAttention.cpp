//===- DotProductAttention.cpp - Scaled dot-product attention ---------------------------------===//

#include "frontend/onnx/operators/support/DotProductAttention.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

Value splitHeads(TensorBuilder &b, Value x, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() == 4)
    return x;
  Value split = b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return b.transpose(split, {0, 2, 1, 3});
}

Value joinHeads(TensorBuilder &b, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return b.reshape(b.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

DotProductAttention::Result DotProductAttention::build(const Program &program, TensorBuilder &b,
                                                       std::optional<Stage> stage) const {
  if (!stage && isWhole(program, b))
    return {buildWhole(b), {}};
  Value scores = buildScores(b), shown = scores;
  if (softcap > 0)
    scores = b.mul(b.tanh(b.mul(scores, b.splat(scores, 1.0 / softcap))), b.splat(scores, softcap));
  if (stage == Capped)
    shown = scores;
  scores = applyMasks(b, scores);
  if (stage == Masked)
    shown = scores;
  Type compute = computeType(b, softmaxType ? softmaxType : element());
  Value weights = b.cast(safeSoftmax(b, b.cast(scores, compute), 3), element());
  if (stage == Weights)
    shown = weights;
  return {buildOutput(b, weights), stage ? shown : Value()};
}

//===--- mtc.attention ------------------------------------------------------------------------===//

/// Returns whether mtc.attention supports the operands. mtc.attention computes no gradient for its
/// bias, which may depend on a parameter, so attention with a bias is decomposed.
/// mtc-recognize-attention may replace the decomposed form later, when it is known which values
/// need gradients.
bool DotProductAttention::isWhole(const Program &program, TensorBuilder &b) const {
  bool hasOneType = llvm::all_of(ArrayRef({key, value}), [&](Value operand) {
    return typeOf(operand).getElementType() == element();
  });
  bool hasNoElements = llvm::any_of(ArrayRef({query, key, value}), [](Value operand) {
    return typeOf(operand).getNumElements() == 0;
  });
  Type compute = computeType(b, softmaxType ? softmaxType : element());
  return !program.writesAttentionInParts() && hasOneType && compute == element() &&
         biases.empty() && !hasNoElements && softcap <= 0;
}

Value DotProductAttention::buildWhole(TensorBuilder &b) const {
  Value mask = kept;
  if (mask) {
    SmallVector<int64_t> shape(4 - typeOf(mask).getRank(), 1);
    llvm::append_range(shape, shapeOf(mask));
    mask = b.reshape(mask, shape);
    shape.back() = keyLength();
    mask = b.broadcastTo(mask, shape);
  }
  // The decomposed form rounds the scale to the type of the scores.
  double rounded = element().isF64() ? scale : static_cast<float>(scale);
  return b.attention(query, key, value, /*bias=*/{}, mask, causal, rounded);
}

//===--- Decomposition ------------------------------------------------------------------------===//

/// Returns scale Q K' as [batch, heads, length, keyLength]. With 16-bit storage, Q is scaled before
/// the contraction, whose result could overflow.
Value DotProductAttention::buildScores(TensorBuilder &b) const {
  bool isNarrow = element().getIntOrFloatBitWidth() < 32;
  Value q = isNarrow ? b.mul(query, b.splat(query, scale)) : query;
  q = b.reshape(q, {batch(), keyHeads(), heads() / keyHeads(), length(), shapeOf(query)[3]});
  Value product = b.contract(q, key, {0, 1}, {0, 1}, {4}, {3});
  Value scores = b.reshape(product, {batch(), heads(), length(), keyLength()});
  return isNarrow ? scores : b.mul(scores, b.splat(scores, scale));
}

Value DotProductAttention::applyMasks(TensorBuilder &b, Value scores) const {
  ArrayRef<int64_t> shape = shapeOf(scores);
  auto keep = [&](Value taken) {
    scores = b.select(b.broadcastTo(taken, shape), scores, b.splat(scores, -INFINITY));
  };
  for (Value bias : biases)
    scores = b.add(scores, b.broadcastTo(bias, shape));
  if (kept)
    keep(kept);
  if (causal) {
    auto positions = RankedTensorType::get({length(), keyLength()}, b.getI64Type());
    Value row = b.iota(positions, 0), column = b.iota(positions, 1);
    Value last = *causal != 0 ? b.add(row, b.splat(row, static_cast<double>(*causal))) : row;
    keep(b.compare(Predicate::Le, column, last));
  }
  return scores;
}

Value DotProductAttention::buildOutput(TensorBuilder &b, Value weights) const {
  Value grouped =
      b.reshape(weights, {batch(), keyHeads(), heads() / keyHeads(), length(), keyLength()});
  Value product = b.contract(grouped, value, {0, 1}, {0, 1}, {4}, {2});
  return b.reshape(product, {batch(), heads(), length(), shapeOf(value)[3]});
}

} // namespace mtc::onnx

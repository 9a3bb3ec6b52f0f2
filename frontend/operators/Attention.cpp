//===- Attention.cpp - Attention --------------------------------------------------------------===//
//
// Converts Attention to mtc.attention if that op supports the node. Otherwise the node is
// decomposed into contractions over named axes, which need no transposes of heads and no copies of
// keys and values shared by several query heads. Masked positions have a score of -inf; a row
// without unmasked positions yields zeros.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/support/AttentionOperands.h"
#include "frontend/operators/support/Conversion.h"
#include "frontend/operators/support/Formulas.h"
#include "frontend/operators/support/Inference.h"

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

/// Converts [batch, length, heads * size] to [batch, heads, length, size]. Operands with four axes
/// already have that layout.
Value splitHeads(TensorBuilder &b, Value x, const Heads &is) {
  if (typeOf(x).getRank() == 4)
    return x;
  Value split = b.reshape(x, {is.batch, is.length, is.heads, is.size});
  return b.transpose(split, {0, 2, 1, 3});
}

class AttentionConverter {
public:
  AttentionConverter(Conversion &node, const AttentionOperands &operands,
                     const AttentionAttributes &attributes)
      : node(node), b(node.b), operands(operands), attributes(attributes),
        batch(operands.query.batch), heads(operands.query.heads), length(operands.query.length),
        keyHeads(operands.key.heads), keyLength(operands.keyLength()) {}

  LogicalResult convert() {
    buildOperands();
    if (isWhole())
      return finish(
          b.attention(query, key, value, /*bias=*/{}, takenKeys(), causalOffset(), wholeScale()));
    Value scores = buildScores(), shown = scores;
    if (double cap = attributes.softcap; cap > 0)
      scores = b.mul(b.tanh(b.mul(scores, b.splat(scores, 1.0 / cap))), b.splat(scores, cap));
    if (attributes.outputMode == 1)
      shown = scores;
    scores = applyMasks(scores);
    if (attributes.outputMode == 2)
      shown = scores;
    Type compute = computeType(b, attributes.softmaxType), element = node.elementType(0);
    Value weights = b.cast(safeSoftmax(b, b.cast(scores, compute), 3), element);
    if (attributes.outputMode == 3)
      shown = weights;
    return success(succeeded(finish(buildOutput(weights))) && succeeded(node.result(3, shown)));
  }

private:
  /// Splits the heads of query, key and value, and prepends past keys and values.
  void buildOperands() {
    query = splitHeads(b, node.value(0), operands.query);
    key = splitHeads(b, node.value(1), operands.key);
    value = splitHeads(b, node.value(2), operands.value);
    if (operands.past > 0) {
      key = b.concatenate({node.value(4), key}, 2);
      value = b.concatenate({node.value(5), value}, 2);
    }
  }

  LogicalResult finish(Value output) {
    if (node.rank(0) == 3)
      output = b.reshape(b.transpose(output, {0, 2, 1, 3}), node.resultShape());
    return success(succeeded(node.result(0, output)) && succeeded(node.result(1, key)) &&
                   succeeded(node.result(2, value)));
  }

  //===--- Conversion to mtc.attention --------------------------------------------------------===//

  /// Returns whether mtc.attention supports the node. mtc.attention computes no gradient for its
  /// bias, which may depend on a parameter, so nodes with a bias are decomposed.
  /// mtc-recognize-attention may replace the decomposed form later, when it is known which values
  /// need gradients.
  bool isWhole() const {
    Type element = node.elementType(0);
    bool hasOneType = node.elementType(1) == element && node.elementType(2) == element &&
                      computeType(b, attributes.softmaxType) == element;
    bool hasNoElements = llvm::any_of(ArrayRef({query, key, value}), [](Value operand) {
      return typeOf(operand).getNumElements() == 0;
    });
    bool hasBias = node.has(3) && !node.elementType(3).isInteger(1);
    return !node.program().writesAttentionInParts() && hasOneType && !hasBias && !hasNoElements &&
           attributes.softcap <= 0 && !node.wants(3);
  }

  /// Rounds the scale to the type of the scores, as the decomposed form does.
  double wholeScale() const {
    return node.elementType(0).isF64() ? attributes.scale : static_cast<float>(attributes.scale);
  }

  std::optional<int64_t> causalOffset() const {
    return attributes.isCausal ? std::optional(operands.past) : std::nullopt;
  }

  /// Returns the mask of attended keys [.., keyLength], in which batch, heads and queries may be 1.
  /// Null if all keys are attended to.
  Value takenKeys() {
    Value taken;
    if (node.has(3)) {
      Value mask = paddedMask();
      SmallVector<int64_t> shape(4 - typeOf(mask).getRank(), 1);
      llvm::append_range(shape, shapeOf(mask));
      taken = b.reshape(mask, shape);
      shape.back() = keyLength;
      taken = b.broadcastTo(taken, shape);
    }
    if (!node.has(6))
      return taken;
    Value tokens = b.reshape(areTokens(), {batch, 1, 1, keyLength});
    if (!taken)
      return tokens;
    SmallVector<int64_t> shape(shapeOf(taken));
    shape[0] = batch;
    return b.logicalAnd(b.broadcastTo(taken, shape), b.broadcastTo(tokens, shape));
  }

  /// Returns a mask [batch, keyLength] that is true for keys before the padding.
  Value areTokens() {
    auto byBatch = RankedTensorType::get({batch, keyLength}, b.getI64Type());
    Value lengths = b.broadcast(b.cast(node.value(6), b.getI64Type()), {1}, byBatch.getShape());
    return b.compare(Predicate::Lt, b.iota(byBatch, 1), lengths);
  }

  //===--- Decomposition ----------------------------------------------------------------------===//

  /// Returns scale Q K' as [batch, heads, length, keyLength]. With 16-bit storage, Q is scaled
  /// before the contraction, whose result could overflow.
  Value buildScores() {
    bool isNarrow = node.elementType(0).getIntOrFloatBitWidth() < 32;
    Value q = isNarrow ? b.mul(query, b.splat(query, attributes.scale)) : query;
    q = b.reshape(q, {batch, keyHeads, heads / keyHeads, length, operands.query.size});
    Value product = b.contract(q, key, {0, 1}, {0, 1}, {4}, {3});
    Value scores = b.reshape(product, {batch, heads, length, keyLength});
    return isNarrow ? scores : b.mul(scores, b.splat(scores, attributes.scale));
  }

  /// Replaces the scores of masked positions by -inf.
  Value keep(Value scores, Value takesPart) {
    return b.select(takesPart, scores, b.splat(scores, -INFINITY));
  }

  Value applyMasks(Value scores) {
    ArrayRef<int64_t> shape = shapeOf(scores);
    if (node.has(3)) {
      Value mask = b.broadcastTo(paddedMask(), shape);
      scores = node.elementType(3).isInteger(1) ? keep(scores, mask) : b.add(scores, mask);
    }
    auto positions = RankedTensorType::get({length, keyLength}, b.getI64Type());
    if (attributes.isCausal) {
      Value row = b.iota(positions, 0), column = b.iota(positions, 1);
      Value last = operands.past > 0 ? b.add(row, b.splat(row, operands.past)) : row;
      scores = keep(scores, b.broadcastTo(b.compare(Predicate::Le, column, last), shape));
    }
    if (node.has(6))
      scores = keep(scores, b.broadcast(areTokens(), {1, 2}, shape));
    return scores;
  }

  /// Extends a mask that is shorter than the keys; the additional keys are masked.
  Value paddedMask() {
    Value mask = node.value(3);
    int64_t missing = shapeOf(mask).back() == 1 ? 0 : keyLength - shapeOf(mask).back();
    if (missing == 0)
      return mask;
    SmallVector<int64_t> none(node.rank(3), 0), high(node.rank(3), 0);
    high.back() = missing;
    return b.pad(mask, none, high, none, node.elementType(3).isInteger(1) ? 0.0 : -INFINITY);
  }

  Value buildOutput(Value weights) {
    Value grouped = b.reshape(weights, {batch, keyHeads, heads / keyHeads, length, keyLength});
    Value product = b.contract(grouped, value, {0, 1}, {0, 1}, {4}, {2});
    return b.reshape(product, {batch, heads, length, operands.value.size});
  }

  Conversion &node;
  TensorBuilder &b;
  const AttentionOperands &operands;
  const AttentionAttributes &attributes;
  int64_t batch, heads, length, keyHeads, keyLength;
  Value query, key, value;
};

LogicalResult convertAttention(Conversion &node) {
  FailureOr<AttentionOperands> operands = AttentionOperands::read(node);
  if (failed(operands))
    return failure();
  FailureOr<AttentionAttributes> attributes = AttentionAttributes::read(node, *operands);
  if (failed(attributes))
    return failure();
  return AttentionConverter(node, *operands, *attributes).convert();
}

} // namespace

void registerAttentionOperators(Operators &operators) {
  operators.add("Attention", 23, {.infer = inferAttention, .convert = convertAttention});
}

} // namespace mtc::onnx

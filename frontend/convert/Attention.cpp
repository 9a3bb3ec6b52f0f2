//===- Attention.cpp - Attention and rotary embedding -----------------------------------------===//
//
// Written in the core: contractions name their axes, so that heads stay where they are and keys and
// values that several query heads share are not repeated. Positions that do not take part have a
// score of -inf; a row without any gives zeros.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Softmax.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// [batch, length, heads * size] as [batch, heads, length, size]; an operand of four axes is that
/// already.
Value splitHeads(TensorBuilder &b, Value x, int64_t heads) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() == 4)
    return x;
  Value split = b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return b.transpose(split, {0, 2, 1, 3});
}

class AttentionConverter {
public:
  explicit AttentionConverter(Conversion &node)
      : node(node), b(node.b), isCausal(node.flag("is_causal", false)),
        softcap(node.floating("softcap", 0.0)),
        outputMode(node.integer("qk_matmul_output_mode", 0)),
        softmaxType(node.elementTypeOf("softmax_precision", node.elementType(0))) {}

  LogicalResult convert() {
    if (!node.failed() && (outputMode < 0 || outputMode > 3))
      return node.failure("attribute qk_matmul_output_mode = " + Twine(outputMode) +
                          ", expected 0..3");
    readOperands();
    if (node.failed())
      return failure();
    Value scores = buildScores(), shown = scores;
    if (softcap > 0)
      scores =
          b.mul(b.tanh(b.mul(scores, b.splat(scores, 1.0 / softcap))), b.splat(scores, softcap));
    if (outputMode == 1)
      shown = scores;
    scores = applyMasks(scores);
    if (outputMode == 2)
      shown = scores;
    Type compute = computeType(b, softmaxType), element = node.elementType(0);
    Value weights = b.cast(safeSoftmax(b, b.cast(scores, compute), 3), element);
    if (outputMode == 3)
      shown = weights;
    return success(succeeded(node.result(0, buildOutput(weights))) &&
                   succeeded(node.result(1, key)) && succeeded(node.result(2, value)) &&
                   succeeded(node.result(3, shown)));
  }

private:
  /// Query, key and value with heads apart; past keys and values come before the new ones.
  void readOperands() {
    query = splitHeads(b, node.value(0), node.integer("q_num_heads", 1));
    key = splitHeads(b, node.value(1), node.integer("kv_num_heads", 1));
    value = splitHeads(b, node.value(2), node.integer("kv_num_heads", 1));
    past = node.has(4) ? node.dim(4, 2) : 0;
    if (past > 0) {
      key = b.concatenate({node.value(4), key}, 2);
      value = b.concatenate({node.value(5), value}, 2);
    }
    batch = shapeOf(query)[0], heads = shapeOf(query)[1], length = shapeOf(query)[2];
    keyHeads = shapeOf(key)[1], keyLength = shapeOf(key)[2];
    scale = node.floating("scale", 1.0 / std::sqrt(static_cast<double>(shapeOf(query)[3])));
  }

  /// scale Q K' as [batch, heads, length, keyLength]. Narrow floats are scaled before the product,
  /// which could overflow.
  Value buildScores() {
    bool isNarrow = node.elementType(0).getIntOrFloatBitWidth() < 32;
    Value q = isNarrow ? b.mul(query, b.splat(query, scale)) : query;
    q = b.reshape(q, {batch, keyHeads, heads / keyHeads, length, shapeOf(query)[3]});
    Value product = b.contract(q, key, {0, 1}, {0, 1}, {4}, {3});
    Value scores = b.reshape(product, {batch, heads, length, keyLength});
    return isNarrow ? scores : b.mul(scores, b.splat(scores, scale));
  }

  /// Scores where a position takes part, -inf elsewhere.
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
    if (isCausal) {
      Value row = b.iota(positions, 0), column = b.iota(positions, 1);
      Value last = past > 0 ? b.add(row, b.splat(row, past)) : row;
      scores = keep(scores, b.broadcastTo(b.compare(Predicate::Le, column, last), shape));
    }
    if (node.has(6)) {
      auto byBatch = RankedTensorType::get({batch, keyLength}, b.getI64Type());
      Value lengths = b.broadcast(b.cast(node.value(6), b.getI64Type()), {1}, byBatch.getShape());
      Value isToken = b.compare(Predicate::Lt, b.iota(byBatch, 1), lengths);
      scores = keep(scores, b.broadcast(isToken, {1, 2}, shape));
    }
    return scores;
  }

  /// A mask that is shorter than the keys leaves the rest out.
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
    Value output = b.reshape(product, {batch, heads, length, shapeOf(value)[3]});
    if (node.rank(0) == 4)
      return output;
    return b.reshape(b.transpose(output, {0, 2, 1, 3}), node.resultShape());
  }

  Conversion &node;
  TensorBuilder &b;
  bool isCausal;
  double softcap;
  int64_t outputMode;
  Type softmaxType;
  Value query, key, value;
  int64_t past = 0, batch = 0, heads = 0, length = 0, keyHeads = 0, keyLength = 0;
  double scale = 1;
};

LogicalResult convertAttention(Conversion &node) {
  AttentionConverter attention(node);
  if (node.failed())
    return failure();
  return attention.convert();
}

/// Elements [offset, offset + count * stride) of the last axis.
Value sliceLast(TensorBuilder &b, Value x, int64_t offset, int64_t count, int64_t stride = 1) {
  SmallVector<int64_t> sizes(shapeOf(x)), offsets(sizes.size(), 0), strides(sizes.size(), 1);
  sizes.back() = count;
  offsets.back() = offset;
  strides.back() = stride;
  return b.slice(x, offsets, sizes, strides);
}

/// Rotates pairs of a head's first elements by an angle of the position: pairs are element i and i
/// + half, or neighbours with `interleaved`. [batch, heads, length, size], or [batch, length, heads
/// * size].
LogicalResult convertRotaryEmbedding(Conversion &node) {
  bool interleaved = node.flag("interleaved", false);
  int64_t rotated = node.integer("rotary_embedding_dim", 0), heads = node.integer("num_heads", 0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (node.rank(0) == 3)
    x = b.reshape(x, {node.dim(0, 0), node.dim(0, 1), heads, node.dim(0, 2) / heads});
  int64_t headAxis = node.rank(0) == 3 ? 2 : 1, size = shapeOf(x).back();
  if (rotated == 0)
    rotated = size;
  int64_t half = rotated / 2;
  if (rotated < 0 || rotated > size || rotated % 2 != 0 || node.shape(1).back() != half ||
      node.shape(2).back() != half)
    return node.failure("rotates " + Twine(rotated) + " of " + Twine(size) + " elements by " +
                        Twine(node.shape(1).back()) +
                        " angles, expected an even number and half "
                        "as many angles");
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

void registerAttentionConverters(Converters &converters) {
  converters.add("Attention", 23, convertAttention);
  converters.add("RotaryEmbedding", 23, convertRotaryEmbedding);
}

} // namespace mtc::onnx

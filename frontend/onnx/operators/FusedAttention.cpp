//===- FusedAttention.cpp - Attention and MultiHeadAttention of onnxruntime -------------------===//
//
// Attention contains the projection of its input to queries, keys and values; MultiHeadAttention
// contains the bias of that projection. Nodes with a cache of past keys and values are refused: a
// training step computes whole sequences.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/DotProductAttention.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/KeyMask.h"
#include "frontend/onnx/operators/support/MatMul.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

constexpr StringRef noCache = "training computes whole sequences. Export the model without a cache";

/// Returns the number of heads, a positive divisor of `columns`, the width of queries.
FailureOr<int64_t> readHeads(NodeView &node, int64_t columns) {
  int64_t heads = node.integer("num_heads");
  if (node.failed())
    return failure();
  if (heads < 1 || columns % heads != 0)
    return node.failure("attribute num_heads = " + Twine(heads) + " does not divide " +
                        Twine(columns) + " columns of the queries");
  return heads;
}

/// Returns columns [offset, offset + count) of x.
Value columnsOf(TensorBuilder &b, Value x, int64_t offset, int64_t count) {
  SmallVector<int64_t> offsets(typeOf(x).getRank(), 0), sizes(shapeOf(x));
  SmallVector<int64_t> strides(offsets.size(), 1);
  offsets.back() = offset;
  sizes.back() = count;
  return b.slice(x, offsets, sizes, strides);
}

/// Returns the output of attention with the masks of the node: the keys of operand `mask`, the bias
/// of operand 5, and the causal mask.
Value attend(Conversion &node, size_t mask, const ScoreShape &scores,
             DotProductAttention &attention) {
  if (node.flag("unidirectional", false))
    attention.causal = 0;
  addKeyMask(node, mask, scores, attention);
  if (node.has(5))
    attention.biases.push_back(node.value(5));
  return joinHeads(node.b, attention.build(node.program(), node.b).output);
}

//===--- Attention ----------------------------------------------------------------------------===//

/// Dimensions of Attention with input [batch, length, columns] and weights [columns, 2 width +
/// valueWidth].
struct Projection {
  ScoreShape scores;
  int64_t width, valueWidth;

  static FailureOr<Projection> read(NodeView &node) {
    if (!node.hasRank(0, 3, 3) || !node.hasRank(1, 2, 2))
      return failure();
    int64_t batch = node.dim(0, 0), length = node.dim(0, 1), total = node.dim(1, 1);
    Extents sizes = node.integers("qkv_hidden_sizes", {total / 3, total / 3, total / 3});
    if (node.failed())
      return failure();
    bool fits = sizes.size() == 3 && sizes[0] == sizes[1] &&
                llvm::all_of(sizes, [&](int64_t size) { return size >= 0 && size <= total; }) &&
                sizes[0] + sizes[1] + sizes[2] == total;
    if (!fits || node.dim(1, 0) != node.dim(0, 2))
      return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                          ", expected " + Twine(node.dim(0, 2)) +
                          " rows and the columns of queries, keys and values " + shapeText(sizes));
    FailureOr<int64_t> heads = readHeads(node, sizes[0]);
    if (failed(heads))
      return failure();
    if (sizes[2] % *heads != 0)
      return node.failure("attribute num_heads = " + Twine(*heads) + " does not divide " +
                          Twine(sizes[2]) + " columns of the values");
    return Projection{{batch, *heads, length, length}, sizes[0], sizes[2]};
  }
};

LogicalResult inferFusedAttention(Inference &node) {
  FailureOr<Projection> read = Projection::read(node);
  if (failed(read) || !node.hasShape(2, node.dim(1, 1)) ||
      failed(checkKeyMask(node, 3, read->scores, /*allowsBounds=*/true)) ||
      failed(refuseOperand(node, 4, noCache)) || failed(checkScoreBias(node, 5, read->scores)) ||
      failed(refuseOperand(node, 6, noCache)) ||
      failed(refuseAttribute(node, "past_present_share_buffer", 0, noCache)) ||
      failed(refuseAttribute(node, "do_rotary", 0, "the node has no tables of angles")))
    return failure();
  node.integer("rotary_embedding_dim", 0); // Without do_rotary, the attribute has no effect.
  node.floating("mask_filter_value", -10000.0);
  node.flag("unidirectional", false);
  auto [batch, heads, length, keys] = read->scores;
  readScale(node, read->width / heads);
  if (node.wants(1) && read->width != read->valueWidth)
    return node.failure("result 1 (present) requires keys and values of one size, got " +
                        Twine(read->width) + " and " + Twine(read->valueWidth) + " columns");
  Type element = node.elementType(0);
  return success(
      succeeded(node.result(0, element, {batch, length, read->valueWidth})) &&
      succeeded(node.result(1, element, {2, batch, heads, length, read->valueWidth / heads})));
}

LogicalResult convertFusedAttention(Conversion &node) {
  FailureOr<Projection> read = Projection::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  auto [batch, heads, length, keys] = read->scores;
  Extents shape{batch, length, node.dim(1, 1)};
  Value all = matMul(b, node.value(0), node.value(1), shape);
  if (node.has(2))
    all = b.add(all, node.broadcastValue(2, shape));
  auto part = [&](int64_t offset, int64_t width) {
    return splitHeads(b, columnsOf(b, all, offset, width), heads);
  };
  DotProductAttention attention{.query = part(0, read->width),
                                .key = part(read->width, read->width),
                                .value = part(2 * read->width, read->valueWidth),
                                .scale = readScale(node, read->width / heads)};
  Value output = attend(node, 3, read->scores, attention);
  if (failed(node.result(0, output)) || !node.wants(1))
    return success(!node.failed());
  SmallVector<int64_t> one(node.resultShape(1));
  one[0] = 1;
  return node.result(
      1, b.concatenate({b.reshape(attention.key, one), b.reshape(attention.value, one)}, 0));
}

//===--- MultiHeadAttention -------------------------------------------------------------------===//

/// Dimensions and layout of MultiHeadAttention.
struct HeadOperands {
  /// Separate: query, key and value [batch, length, heads · size]. Split: key and value [batch,
  /// heads, length, size]. PackedKeys: key [batch, length, heads, 2, size] without value. Packed:
  /// query [batch, length, heads, 3, size] without key and value.
  enum Layout { Separate, Split, PackedKeys, Packed };
  Layout layout;
  ScoreShape scores;
  int64_t size, valueSize;

  static FailureOr<HeadOperands> read(NodeView &node);

  int64_t width() const { return scores.heads * size; }
  int64_t valueWidth() const { return scores.heads * valueSize; }
};

LogicalResult mismatch(NodeView &node) {
  std::string shapes;
  for (size_t i = 0; i < 3; ++i)
    if (node.has(i))
      shapes += (shapes.empty() ? "" : ", ") + shapeText(node.shape(i));
  return node.failure("operands of shapes " + shapes + " do not match as query, key and value");
}

FailureOr<HeadOperands> HeadOperands::read(NodeView &node) {
  ArrayRef<int64_t> q = node.shape(0);
  int64_t heads = node.integer("num_heads");
  if (node.failed())
    return failure();
  if (heads < 1)
    return node.failure("attribute num_heads = " + Twine(heads) + ", expected at least 1");
  if (q.size() == 5) {
    if (node.has(1) || node.has(2) || q[2] != heads || q[3] != 3)
      return mismatch(node);
    return HeadOperands{Packed, {q[0], heads, q[1], q[1]}, q[4], q[4]};
  }
  if (!node.hasRank(0, 3, 3) || failed(readHeads(node, q[2])))
    return failure();
  if (!node.has(1))
    return node.failure(node.operandName(1) + " is required, unless " + node.operandName(0) +
                        " has the packed shape [batch, length, heads, 3, size]");
  ArrayRef<int64_t> k = node.shape(1);
  int64_t size = q[2] / heads;
  if (k.size() == 5) {
    if (node.has(2) || k[0] != q[0] || ArrayRef<int64_t>({heads, 2, size}) != k.drop_front(2))
      return mismatch(node);
    return HeadOperands{PackedKeys, {q[0], heads, q[1], k[1]}, size, size};
  }
  if (!node.has(2))
    return node.failure(node.operandName(2) + " is required, unless " + node.operandName(1) +
                        " has the packed shape [batch, length, heads, 2, size]");
  ArrayRef<int64_t> v = node.shape(2);
  if (k.size() == 4) {
    if (ArrayRef<int64_t>({q[0], heads, k[2], size}) != k || k != v)
      return mismatch(node);
    return HeadOperands{Split, {q[0], heads, q[1], k[2]}, size, size};
  }
  if (k.size() != 3 || v.size() != 3 || ArrayRef<int64_t>({q[0], k[1], q[2]}) != k ||
      k.drop_back() != v.drop_back() || v[2] % heads != 0)
    return mismatch(node);
  return HeadOperands{Separate, {q[0], heads, q[1], k[1]}, size, v[2] / heads};
}

LogicalResult inferMultiHeadAttention(Inference &node) {
  FailureOr<HeadOperands> read = HeadOperands::read(node);
  if (failed(read) || !node.hasShape(3, 2 * read->width() + read->valueWidth()) ||
      failed(checkKeyMask(node, 4, read->scores, /*allowsBounds=*/false)) ||
      failed(checkScoreBias(node, 5, read->scores)))
    return failure();
  for (size_t i : {6, 7, 8, 9})
    if (failed(refuseOperand(node, i, noCache)))
      return failure();
  if (node.wants(3))
    return node.failure("result 3 (qk) is not supported; expected it to be omitted");
  node.floating("mask_filter_value", -10000.0);
  readScale(node, read->size);
  auto [batch, heads, length, keys] = read->scores;
  // onnxruntime does not mask the last query if there are more keys.
  if (node.flag("unidirectional", false) && length != keys)
    return node.failure("attribute unidirectional = 1 requires as many keys as queries, got " +
                        Twine(keys) + " and " + Twine(length));
  Type element = node.elementType(0);
  return success(succeeded(node.result(0, element, {batch, length, read->valueWidth()})) &&
                 succeeded(node.result(1, element, {batch, heads, keys, read->size})) &&
                 succeeded(node.result(2, element, {batch, heads, keys, read->valueSize})));
}

/// Returns element `which` of axis 3 of x [batch, length, heads, count, size], as [batch, length,
/// heads · size].
Value unpacked(TensorBuilder &b, Value x, int64_t which) {
  SmallVector<int64_t> sizes(shapeOf(x));
  sizes[3] = 1;
  Value one = b.slice(x, {0, 0, 0, which, 0}, sizes, {1, 1, 1, 1, 1});
  return b.reshape(one, {sizes[0], sizes[1], sizes[2] * sizes[4]});
}

LogicalResult convertMultiHeadAttention(Conversion &node) {
  FailureOr<HeadOperands> read = HeadOperands::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  int64_t heads = read->scores.heads, width = read->width();
  Value query = node.value(0), key, value;
  switch (read->layout) {
  case HeadOperands::Packed:
    key = unpacked(b, query, 1);
    value = unpacked(b, query, 2);
    query = unpacked(b, query, 0);
    break;
  case HeadOperands::PackedKeys:
    key = unpacked(b, node.value(1), 0);
    value = unpacked(b, node.value(1), 1);
    break;
  case HeadOperands::Separate:
  case HeadOperands::Split:
    key = node.value(1);
    value = node.value(2);
    break;
  }
  // Split keys and values come from another node, which has added their bias.
  auto biased = [&](Value x, int64_t offset, int64_t count) {
    if (!node.has(3) || typeOf(x).getRank() == 4)
      return x;
    return b.add(x, b.broadcastTo(columnsOf(b, node.value(3), offset, count), shapeOf(x)));
  };
  DotProductAttention attention{
      .query = splitHeads(b, biased(query, 0, width), heads),
      .key = splitHeads(b, biased(key, width, width), heads),
      .value = splitHeads(b, biased(value, 2 * width, read->valueWidth()), heads),
      .scale = readScale(node, read->size)};
  Value output = attend(node, 4, read->scores, attention);
  return success(succeeded(node.result(0, output)) && succeeded(node.result(1, attention.key)) &&
                 succeeded(node.result(2, attention.value)));
}

} // namespace

void addFusedAttentionOperators(Operators &operators) {
  operators.add("com.microsoft::Attention", 1,
                {.infer = inferFusedAttention,
                 .convert = convertFusedAttention,
                 .roles = {{1, OperandRole::MergedWeight}, {2, OperandRole::MergedWeight}}});
  operators.add("com.microsoft::MultiHeadAttention", 1,
                {.infer = inferMultiHeadAttention,
                 .convert = convertMultiHeadAttention,
                 .roles = {{3, OperandRole::MergedWeight}}});
}

} // namespace mtc::onnx

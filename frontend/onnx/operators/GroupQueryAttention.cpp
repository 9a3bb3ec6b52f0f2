//===- GroupQueryAttention.cpp - GroupQueryAttention of onnxruntime ---------------------------===//
//
// The prompt form: there are no past keys and values, so that the sequence starts at position 0.
// Padding follows the tokens of a sequence, so that a causal mask hides it from the tokens.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/DotProductAttention.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/KeyMask.h"
#include "frontend/onnx/operators/support/Rotation.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Dimensions and attributes.
struct GroupQuery {
  ScoreShape scores; ///< `keys` equals `length`.
  int64_t keyHeads, size;
  bool isPacked, isCausal, doRotary, isInterleaved;
  int64_t window; ///< Number of keys that a query attends to, its own included, or -1 for all.
  double scale, softcap;

  static FailureOr<GroupQuery> read(NodeView &node);

private:
  static FailureOr<GroupQuery> readShapes(NodeView &node);
};

/// Reads the operands: query, key and value [batch, length, heads · size], or one tensor with the
/// heads of all three.
FailureOr<GroupQuery> GroupQuery::readShapes(NodeView &node) {
  int64_t heads = node.integer("num_heads"), keyHeads = node.integer("kv_num_heads");
  if (node.failed() || !node.hasRank(0, 3, 3))
    return failure();
  if (heads < 1 || keyHeads < 1 || heads % keyHeads != 0 || heads > maxElements)
    return node.failure("attributes num_heads = " + Twine(heads) + " and kv_num_heads = " +
                        Twine(keyHeads) + ", expected a multiple of kv_num_heads");
  bool isPacked = !node.has(1);
  int64_t batch = node.dim(0, 0), length = node.dim(0, 1), columns = node.dim(0, 2);
  int64_t parts = isPacked ? heads + 2 * keyHeads : heads;
  if (columns % parts != 0)
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(node.shape(0)) +
                        ", whose columns do not divide into " + Twine(parts) + " heads");
  int64_t size = columns / parts;
  if (isPacked && node.has(2))
    return node.failure(node.operandName(1) + " is required with " + node.operandName(2));
  if (!isPacked && !node.has(2))
    return node.failure(node.operandName(2) + " is required with " + node.operandName(1));
  for (size_t i : {1, 2})
    if (!node.hasShape(i, {batch, length, keyHeads * size}))
      return failure();
  GroupQuery read{};
  read.scores = {batch, heads, length, length};
  read.keyHeads = keyHeads;
  read.size = size;
  read.isPacked = isPacked;
  return read;
}

FailureOr<GroupQuery> GroupQuery::read(NodeView &node) {
  FailureOr<GroupQuery> read = readShapes(node);
  if (failed(read))
    return failure();
  read->isCausal = node.flag("causal", true);
  read->doRotary = node.flag("do_rotary", false);
  read->isInterleaved = node.flag("rotary_interleaved", false);
  read->window = node.integer("local_window_size", -1);
  read->scale = readScale(node, read->size);
  read->softcap = node.floating("softcap", 0.0);
  if (node.failed())
    return failure();
  return read;
}

//===--- Type inference -----------------------------------------------------------------------===//

/// Refuses past keys or values, operand `i`. Files have them as inputs, for which an empty array
/// can be bound.
LogicalResult refusePast(Inference &node, size_t i) {
  if (!node.has(i))
    return success();
  if (!node.hasRank(i, 4, 4))
    return failure();
  Extents shape(node.shape(i));
  if (shape[2] == 0)
    return success();
  std::string reason = node.operandName(i) + " has shape " + shapeText(shape) +
                       ", expected no past positions (0 on axis 2): training computes whole "
                       "sequences";
  shape[2] = 0;
  SmallVector<std::string> names = dataSources(node.operand(i));
  if (names.size() == 1)
    reason += ". Use --bind " + names.front() + "=FILE with an array of shape " + shapeText(shape);
  return node.failure(reason);
}

/// Refuses features that only generation with a cache needs, and features that training does not
/// support.
LogicalResult refuseGeneration(Inference &node, int64_t length) {
  constexpr StringRef noCache = "training computes whole sequences";
  for (size_t i : {3, 4})
    if (failed(refusePast(node, i)))
      return failure();
  if (auto total = node.constantInts(6); total && total->size() == 1 && total->front() != length)
    return node.failure(Twine(node.operandName(6)) + " is " + Twine(total->front()) +
                        ", expected the length of the sequence, " + Twine(length) + ": " + noCache);
  if (node.wants(3))
    return node.failure("result 3 (output_qk) is not supported; expected it to be omitted");
  for (size_t i : {12, 13})
    if (failed(refuseOperand(node, i, "quantized keys and values have no gradient")))
      return failure();
  for (size_t i : {14, 15})
    if (failed(refuseOperand(node, i, "expected RMSNormalization nodes before the attention")))
      return failure();
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (node.string(name, "NONE") != "NONE")
      return node.failure("attribute " + name +
                          " is not supported: quantized keys and values have no gradient");
  node.integer("kv_cache_bit_width", 0);
  node.floating("qk_norm_epsilon", 1e-6);
  if (node.integer("smooth_softmax", 0) > 0)
    return node.failure("attribute smooth_softmax = 1 is not supported: attention has no sink");
  return success(!node.failed() && succeeded(refuseOperand(node, 11, "attention has no sink")) &&
                 succeeded(refuseAttribute(node, "qk_output", 0, "the scores are not returned")) &&
                 succeeded(refuseAttribute(node, "sliding_window_cache", 0, noCache)));
}

/// Checks the tables of angles, [positions, half].
LogicalResult checkTables(Inference &node, const GroupQuery &read) {
  if (!read.doRotary)
    return success();
  for (size_t i : {7, 8})
    if (!node.has(i))
      return node.failure(node.operandName(i) + " is required with do_rotary = 1");
  if (!node.hasRank(7, 2, 2) || !node.hasShape(8, node.shape(7)))
    return failure();
  if (node.dim(7, 0) < read.scores.length || 2 * node.dim(7, 1) > read.size)
    return node.failure(Twine(node.operandName(7)) + " has shape " + shapeText(node.shape(7)) +
                        ", expected at least " + Twine(read.scores.length) +
                        " positions and at most " + Twine(read.size / 2) + " angles");
  return success();
}

LogicalResult inferGroupQueryAttention(Inference &node) {
  FailureOr<GroupQuery> read = GroupQuery::read(node);
  if (failed(read))
    return failure();
  auto [batch, heads, length, keys] = read->scores;
  if (read->window != -1 && (read->window < 1 || !read->isCausal))
    return node.failure("attribute local_window_size = " + Twine(read->window) +
                        ", expected -1, or at least 1 with causal = 1");
  if (failed(refuseGeneration(node, length)) || failed(checkTables(node, *read)) ||
      failed(checkScoreBias(node, 10, read->scores)) || !node.hasShape(9, {batch, length}))
    return failure();
  if (elementCount(node.shape(5)) != batch)
    return node.failure(Twine(node.operandName(5)) + " has shape " + shapeText(node.shape(5)) +
                        ", expected " + shapeText(batch));
  if (!node.hasOneElement(6))
    return failure();
  Type element = node.elementType(0);
  Extents present{batch, read->keyHeads, length, read->size};
  return success(succeeded(node.result(0, element, {batch, length, heads * read->size})) &&
                 succeeded(node.result(1, element, present)) &&
                 succeeded(node.result(2, element, present)));
}

//===--- Conversion ---------------------------------------------------------------------------===//

/// Returns the operands as [batch, heads, length, size]. Heads of the packed form are those of the
/// queries, then of the keys, then of the values.
DotProductAttention splitOperands(Conversion &node, const GroupQuery &read) {
  TensorBuilder &b = node.b;
  auto [batch, heads, length, keys] = read.scores;
  DotProductAttention attention{.query = {}, .key = {}, .value = {}, .scale = read.scale};
  if (!read.isPacked) {
    attention.query = splitHeads(b, node.value(0), heads);
    attention.key = splitHeads(b, node.value(1), read.keyHeads);
    attention.value = splitHeads(b, node.value(2), read.keyHeads);
    return attention;
  }
  Value all = splitHeads(b, node.value(0), heads + 2 * read.keyHeads);
  auto part = [&](int64_t first, int64_t count) {
    return b.slice(all, {0, first, 0, 0}, {batch, count, length, read.size}, {1, 1, 1, 1});
  };
  attention.query = part(0, heads);
  attention.key = part(heads, read.keyHeads);
  attention.value = part(heads + read.keyHeads, read.keyHeads);
  return attention;
}

/// Returns the keys j > i - window of each query i.
Value keysInWindow(TensorBuilder &b, int64_t length, int64_t window) {
  auto type = RankedTensorType::get({length, length}, b.getI64Type());
  Value before = b.sub(b.iota(type, 0), b.splat(type, static_cast<double>(window)));
  return b.compare(Predicate::Gt, b.iota(type, 1), before);
}

/// Returns the keys that precede the padding, as [batch, 1, 1, length]. The operand is their number
/// minus 1.
Value keysBeforePadding(Conversion &node, const ScoreShape &scores) {
  TensorBuilder &b = node.b;
  auto type = RankedTensorType::get({scores.batch, scores.keys}, node.elementType(5));
  Value last = b.broadcast(b.reshape(node.value(5), scores.batch), {1}, type.getShape());
  return b.reshape(b.compare(Predicate::Le, b.iota(type, 1), last),
                   {scores.batch, 1, 1, scores.keys});
}

LogicalResult convertGroupQueryAttention(Conversion &node) {
  FailureOr<GroupQuery> read = GroupQuery::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  int64_t length = read->scores.length;
  DotProductAttention attention = splitOperands(node, *read);
  attention.softcap = read->softcap;
  if (read->doRotary) {
    // onnxruntime reads only the first position: the others follow it.
    Value offset;
    if (node.has(9))
      offset = b.slice(b.reshape(node.value(9), read->scores.batch * length), 0, 1, 1);
    auto rotated = [&](Value x) {
      SmallVector<int64_t> halves(shapeOf(x));
      halves.back() = node.dim(7, 1);
      auto angle = [&](size_t operand) {
        return b.broadcast(consecutiveRows(b, node.value(operand), length, offset), {0, 1}, halves);
      };
      Value cosine = angle(7), sine = angle(8);
      return rotate(b, x, cosine, sine, read->isInterleaved);
    };
    attention.query = rotated(attention.query);
    attention.key = rotated(attention.key);
  }
  if (read->isCausal)
    attention.causal = 0;
  else
    attention.kept = keysBeforePadding(node, read->scores);
  if (read->window != -1 && read->window < length)
    attention.kept = keysInWindow(b, length, read->window);
  if (node.has(10))
    attention.biases.push_back(node.value(10));
  Value output = joinHeads(b, attention.build(node.program(), b).output);
  return success(succeeded(node.result(0, output)) && succeeded(node.result(1, attention.key)) &&
                 succeeded(node.result(2, attention.value)));
}

} // namespace

void addGroupQueryAttentionOperators(Operators &operators) {
  operators.add("com.microsoft::GroupQueryAttention", 1,
                {.infer = inferGroupQueryAttention,
                 .convert = convertGroupQueryAttention,
                 .roles = {{7, OperandRole::AngleTable}, {8, OperandRole::AngleTable}}});
}

} // namespace mtc::onnx

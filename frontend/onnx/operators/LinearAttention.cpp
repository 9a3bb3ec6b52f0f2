//===- LinearAttention.cpp - LinearAttention --------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Unrolled.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

enum : size_t { InQuery, InKey, InValue, InState, InDecay, InBeta };

struct LinearHeads {
  bool isGated, isCorrected;
  int64_t queryHeads, heads, keyDepth, valueDepth;
  double scale;

  static FailureOr<LinearHeads> read(NodeView &node) {
    StringRef rule =
        node.choice("update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"});
    int64_t queryHeads = node.integer("q_num_heads"), heads = node.integer("kv_num_heads");
    double scale = node.floating("scale", 0);
    node.integer("chunk_size", 64); // Does not affect results.
    for (size_t i : {InQuery, InKey, InValue})
      if (node.failed() || !node.hasRank(i, 3, 3))
        return failure();
    if (queryHeads < 1 || heads < 1 || queryHeads % heads != 0)
      return node.failure("attributes q_num_heads = " + Twine(queryHeads) +
                          " and kv_num_heads = " + Twine(heads) +
                          ", expected q_num_heads to be a positive multiple of kv_num_heads");
    if (node.dim(InQuery, 2) % queryHeads != 0 || node.dim(InValue, 2) % heads != 0)
      return node.failure("has query of shape " + shapeText(node.shape(InQuery)) +
                          " and value of shape " + shapeText(node.shape(InValue)) +
                          ", expected last extents divisible by " + Twine(queryHeads) + " and " +
                          Twine(heads) + " heads");
    LinearHeads read{
        rule.starts_with("gated"),         rule.ends_with("delta"),      queryHeads, heads,
        node.dim(InQuery, 2) / queryHeads, node.dim(InValue, 2) / heads, scale};
    if (read.scale == 0)
      read.scale = 1 / std::sqrt(static_cast<double>(read.keyDepth));
    if (node.has(InDecay) != read.isGated || node.has(InBeta) != read.isCorrected)
      return node.failure("attribute update_rule = \"" + rule + "\", expected operand decay " +
                          "exactly for gated rules and operand beta exactly for delta rules");
    return read;
  }
};

/// Query [B, T, Hq · K], key [B, T, H · K], value [B, T, H · V], state [B, H, K, V], decay [B, T, H
/// or H · K], beta [B, T, H or 1].
LogicalResult inferLinearAttention(Inference &node) {
  FailureOr<LinearHeads> read = LinearHeads::read(node);
  if (failed(read))
    return failure();
  int64_t batch = node.dim(InQuery, 0), steps = node.dim(InQuery, 1), heads = read->heads;
  auto fits = [&](size_t i, ArrayRef<Extents> allowed) {
    if (!node.has(i) ||
        llvm::any_of(allowed, [&](ArrayRef<int64_t> shape) { return node.shape(i) == shape; }))
      return true;
    (void)node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                       ", expected " + shapeText(allowed.front()));
    return false;
  };
  if (!fits(InKey, Extents{batch, steps, heads * read->keyDepth}) ||
      !fits(InValue, Extents{batch, steps, heads * read->valueDepth}) ||
      !fits(InState, Extents{batch, heads, read->keyDepth, read->valueDepth}) ||
      !fits(InDecay, {{batch, steps, heads}, {batch, steps, heads * read->keyDepth}}) ||
      !fits(InBeta, {{batch, steps, heads}, {batch, steps, 1}}))
    return failure();
  if (steps < 1)
    return node.failure("has no time step");
  Type element = node.elementType(InQuery);
  Type stateElement = node.has(InState) ? node.elementType(InState) : element;
  return success(
      succeeded(node.result(0, element, {batch, steps, read->queryHeads * read->valueDepth})) &&
      succeeded(node.result(1, stateElement, {batch, heads, read->keyDepth, read->valueDepth})));
}

/// In each step the state decays, adds the outer product of key and value, and is read by the
/// query. The delta rule first subtracts the state's prediction for the key from the value. (Yang
/// et al., "Gated delta networks", 2024.)
LogicalResult convertLinearAttention(Conversion &node) {
  FailureOr<LinearHeads> read = LinearHeads::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  int64_t batch = node.dim(InQuery, 0), steps = node.dim(InQuery, 1), heads = read->heads;
  int64_t keys = read->keyDepth, values = read->valueDepth, group = read->queryHeads / heads;
  if (failed(checkUnrolled(node, steps)))
    return failure();
  Type type = computeType(b, node.elementType(InQuery));
  // Returns an operand [B, T, …] at one step, reshaped to `shape`.
  auto at = [&](size_t i, int64_t step, ArrayRef<int64_t> shape) {
    int64_t width = node.dim(i, 2);
    Value row = b.slice(node.value(i), {0, step, 0}, {batch, 1, width}, {1, 1, 1});
    return b.cast(b.reshape(row, shape), type);
  };
  SmallVector<int64_t> whole{batch, heads, keys, values};
  Value state = node.has(InState) ? b.cast(node.value(InState), type)
                                  : b.splat(RankedTensorType::get(whole, type), 0.0);
  SmallVector<Value> outputs;
  for (int64_t step = 0; step < steps; ++step) {
    Value key = at(InKey, step, {batch, heads, keys});
    Value value = at(InValue, step, {batch, heads, values});
    if (read->isGated) {
      bool isPerHead = node.dim(InDecay, 2) == heads;
      Value decay = b.exp(at(InDecay, step, {batch, heads, isPerHead ? 1 : keys}));
      state = b.mul(
          state, b.broadcastTo(b.reshape(decay, {batch, heads, isPerHead ? 1 : keys, 1}), whole));
    }
    if (read->isCorrected) {
      Value found = b.contract(state, key, {0, 1}, {0, 1}, {2}, {2});
      Value beta = at(InBeta, step, {batch, node.dim(InBeta, 2), 1});
      value = b.mul(b.broadcastTo(beta, shapeOf(value)), b.sub(value, found));
    }
    state = b.add(state, b.mul(b.broadcast(key, {3}, whole), b.broadcast(value, {2}, whole)));
    Value query = at(InQuery, step, {batch, heads, group, keys});
    Value y = b.contract(query, state, {0, 1}, {0, 1}, {3}, {2});
    outputs.push_back(b.reshape(y, {batch, 1, read->queryHeads * values}));
  }
  Value y = steps == 1 ? outputs.front() : b.concatenate(outputs, 1);
  y = b.cast(b.mul(y, b.splat(y, read->scale)), node.elementType(InQuery));
  if (failed(node.result(0, y)))
    return failure();
  return node.wants(1) ? node.result(1, b.cast(state, node.resultType(1).getElementType()))
                       : success();
}

} // namespace

void addLinearAttentionOperators(Operators &operators) {
  operators.add("LinearAttention", 27,
                {.infer = inferLinearAttention, .convert = convertLinearAttention});
}

} // namespace mtc::onnx

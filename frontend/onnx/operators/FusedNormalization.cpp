//===- FusedNormalization.cpp - Normalizations of sums, of onnxruntime ------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

constexpr double defaultEpsilon = 1e-12;

bool isSimplified(NodeView &node) { return node.opType().contains("Simplified"); }

/// Refuses the statistics, results 1 and 2: onnxruntime does not compute them for inference.
LogicalResult refuseStatistics(NodeView &node) {
  for (size_t i : {1, 2})
    if (node.wants(i))
      return node.failure("result " + Twine(i) + " is not supported; expected it to be omitted");
  return success();
}

/// Returns the normalized rows of x times operand `scale` plus operand `shift`, if present, in the
/// type of x. Simplified normalizations divide by the root of the mean square.
Value normalizeRows(Conversion &node, Value x, bool isSimplified, size_t scale, size_t shift) {
  TensorBuilder &b = node.b;
  double epsilon = node.floating("epsilon", defaultEpsilon);
  Type element = typeOf(x).getElementType();
  Value wide = b.cast(x, computeType(b, element));
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> axes = axesFrom(static_cast<int64_t>(shape.size()) - 1, shape.size());
  Value y = b.cast(isSimplified ? rootMeanSquareNormalize(b, wide, axes, epsilon).value
                                : normalize(b, wide, axes, epsilon).value,
                   element);
  y = b.mul(y, node.broadcastValue(scale, shape));
  return node.has(shift) ? b.add(y, node.broadcastValue(shift, shape)) : y;
}

//===--- SkipLayerNormalization, SkipSimplifiedLayerNormalization -----------------------------===//

/// Operands are input, skip, gamma, beta (not if simplified) and bias.
size_t biasOf(NodeView &node) { return isSimplified(node) ? 3 : 4; }

LogicalResult inferSkipNormalization(Inference &node) {
  if (!node.hasRank(0, 2) || failed(refuseStatistics(node)))
    return failure();
  node.floating("epsilon", defaultEpsilon);
  std::optional<Extents> both = broadcastShapes(node.shape(0), node.shape(1));
  if (!both || ArrayRef<int64_t>(*both) != node.shape(0))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", which does not broadcast to " + shapeText(node.shape(0)));
  for (size_t i = 2; i < node.operandCount(); ++i)
    if (!node.hasShape(i, node.shape(0).back()))
      return failure();
  return success(succeeded(node.result(0, node.type(0))) &&
                 succeeded(node.result(3, node.type(0))));
}

/// Normalizes input + bias + skip, which is result 3.
LogicalResult convertSkipNormalization(Conversion &node) {
  TensorBuilder &b = node.b;
  Value sum = node.value(0);
  ArrayRef<int64_t> shape = node.shape(0);
  if (size_t bias = biasOf(node); node.has(bias))
    sum = b.add(sum, node.broadcastValue(bias, shape));
  sum = b.add(sum, node.broadcastValue(1, shape));
  // Simplified normalizations have no shift, so their operand 3 is the bias.
  size_t shift = isSimplified(node) ? node.operandCount() : 3;
  Value y = normalizeRows(node, sum, isSimplified(node), 2, shift);
  return success(succeeded(node.result(0, y)) && succeeded(node.result(3, sum)));
}

//===--- EmbedLayerNormalization --------------------------------------------------------------===//

/// Operands are ids of words and segments [batch, length]; tables of words, positions and segments
/// [rows, columns]; gamma and beta [columns]; a mask [batch, length] and position ids.
LogicalResult inferEmbedding(Inference &node) {
  if (!node.hasRank(0, 2, 2) || !node.hasRank(2, 2, 2))
    return failure();
  node.floating("epsilon", defaultEpsilon);
  node.integer("mask_index_type", 0);
  int64_t batch = node.dim(0, 0), length = node.dim(0, 1), columns = node.dim(2, 1);
  if (node.has(1) != node.has(4))
    return node.failure(node.operandName(1) + " and " + node.operandName(4) +
                        " require each other; expected both or none");
  for (size_t i : {1, 7})
    if (!node.hasShape(i, {batch, length}))
      return failure();
  for (size_t i : {3, 4})
    if (node.has(i) && (!node.hasRank(i, 2, 2) || !node.hasShape(i, {node.dim(i, 0), columns})))
      return failure();
  for (size_t i : {5, 6})
    if (!node.hasShape(i, columns))
      return failure();
  if (node.has(8) && node.shape(8) != ArrayRef<int64_t>({1, length}) &&
      !node.hasShape(8, {batch, length}))
    return failure();
  if (!node.has(8) && node.dim(3, 0) < length)
    return node.failure(Twine(node.operandName(3)) + " has shape " + shapeText(node.shape(3)) +
                        ", expected at least " + Twine(length) + " positions");
  Type element = node.elementType(2);
  return success(succeeded(node.result(0, element, {batch, length, columns})) &&
                 succeeded(node.result(1, node.elementType(0), {batch})) &&
                 succeeded(node.result(2, element, {batch, length, columns})));
}

/// Returns rows of the table in operand `table` at the indices in operand `ids`.
Value lookUp(Conversion &node, size_t table, size_t ids) {
  if (auto indices = node.constantInts(ids))
    if (Value even = gatherEvenly(node.b, node.value(table), 0, *indices, node.shape(ids)))
      return even;
  return node.b.gather(node.value(table), node.value(ids), 0, 0);
}

/// Normalizes the sum of the embeddings of words, positions and segments. Result 1 is the number of
/// ones in the mask.
LogicalResult convertEmbedding(Conversion &node) {
  TensorBuilder &b = node.b;
  Extents shape(node.shape(0));
  shape.push_back(node.dim(2, 1));
  Value positions = node.has(8) ? lookUp(node, 3, 8)
                                : b.slice(node.value(3), {0, 0}, {shape[1], shape[2]}, {1, 1});
  Value sum = b.add(lookUp(node, 2, 0), b.broadcastTo(positions, shape));
  if (node.has(1))
    sum = b.add(sum, lookUp(node, 4, 1));
  Value y = normalizeRows(node, sum, /*isSimplified=*/false, 5, 6);
  if (failed(node.result(0, y)) || failed(node.result(2, sum)))
    return failure();
  if (!node.wants(1))
    return success();
  Type integer = node.elementType(0);
  if (!node.has(7))
    return node.result(1, b.splat(node.resultType(1), 0.0));
  Value mask = node.value(7), isOne = b.compare(Predicate::Eq, mask, b.splat(mask, 1.0));
  return node.result(1, b.sum(b.cast(isOne, integer), {1}));
}

} // namespace

void addFusedNormalizationOperators(Operators &operators) {
  operators.add("com.microsoft::SkipLayerNormalization", 1,
                {.infer = inferSkipNormalization,
                 .convert = convertSkipNormalization,
                 .roles = {{2, OperandRole::BiasOrScale},
                           {3, OperandRole::BiasOrScale},
                           {4, OperandRole::BiasOrScale}}});
  operators.add("com.microsoft::SkipSimplifiedLayerNormalization", 1,
                {.infer = inferSkipNormalization,
                 .convert = convertSkipNormalization,
                 .roles = {{2, OperandRole::BiasOrScale}, {3, OperandRole::BiasOrScale}}});
  operators.add("com.microsoft::EmbedLayerNormalization", 1,
                {.infer = inferEmbedding,
                 .convert = convertEmbedding,
                 .roles = {{5, OperandRole::BiasOrScale}, {6, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx

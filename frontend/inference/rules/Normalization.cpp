//===- Normalization.cpp - Batch, layer, group, instance and RMS norm: types only -------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/inference/Inference.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult inferSame(Inference &node) {
  return success(node.floatElements(0) && succeeded(node.result(0, node.type(0))));
}

/// Operand `i` is a vector of `extent` elements.
bool isVector(Inference &node, size_t i, int64_t extent) {
  if (node.shape(i) == ArrayRef<int64_t>(extent))
    return true;
  (void)node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                     ", expected " + shapeText(extent));
  return false;
}

/// Scale and bias of InstanceNormalization, GroupNormalization, BatchNormalization: one for each of
/// `extent`.
bool areVectors(Inference &node, size_t first, size_t last, int64_t extent) {
  for (size_t i = first; i <= last; ++i)
    if (!node.floatElements(i) || !isVector(node, i, extent))
      return false;
  return true;
}

/// Y, and in training running mean and variance. Before version 14 the two further results are the
/// batch's.
LogicalResult inferBatchNormalization(Inference &node) {
  node.floating("epsilon", 1e-5);
  node.floating("momentum", 0.9);
  if (node.version() >= 14)
    node.flag("training_mode", false);
  if (!node.hasRank(0, 2) || !areVectors(node, 1, 4, node.dim(0, 1)) || failed(inferSame(node)))
    return failure();
  for (size_t i = 1; i < (node.version() < 14 ? 5 : 3); ++i)
    if (failed(node.result(i, node.type(3))))
      return failure();
  return success();
}

LogicalResult inferInstanceNormalization(Inference &node) {
  node.floating("epsilon", 1e-5);
  if (!node.hasRank(0, 3) || !areVectors(node, 1, 2, node.dim(0, 1)))
    return failure();
  return inferSame(node);
}

/// Scale and bias are per group in version 18, per channel from 21 on.
LogicalResult inferGroupNormalization(Inference &node) {
  node.floating("epsilon", 1e-5);
  int64_t groups = node.integer("num_groups");
  if (node.failed() || !node.hasRank(0, 2))
    return failure();
  int64_t channels = node.dim(0, 1);
  if (groups < 1 || channels % groups != 0)
    return node.failure("attribute num_groups = " + Twine(groups) + " does not divide " +
                        Twine(channels) + " channels");
  if (!areVectors(node, 1, 2, node.version() < 21 ? groups : channels))
    return failure();
  return inferSame(node);
}

/// Scale and bias broadcast to the axes from `axis` on.
LogicalResult checkTrailing(Inference &node, int64_t axis) {
  for (size_t i = 1; i < node.operandCount(); ++i) {
    if (!node.has(i))
      continue;
    std::optional<Extents> both = broadcastShapes(node.shape(0), node.shape(i));
    if (!both || ArrayRef<int64_t>(*both) != node.shape(0))
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", which does not broadcast to " +
                          shapeText(node.shape(0).drop_front(axis)));
  }
  return success();
}

/// Y; mean and inverse standard deviation with extent 1 on the normalized axes, in the type of
/// `stash_type`.
LogicalResult inferLayerNormalization(Inference &node) {
  node.floating("epsilon", 1e-5);
  int64_t axis = node.axis("axis", -1, node.rank(0));
  Type stash = node.elementTypeOf("stash_type", Float32Type::get(node.context()));
  if (node.failed() || failed(checkTrailing(node, axis)) || failed(inferSame(node)))
    return failure();
  Extents shape(node.shape(0));
  std::fill(shape.begin() + axis, shape.end(), 1);
  return success(succeeded(node.result(1, stash, shape)) &&
                 succeeded(node.result(2, stash, shape)));
}

LogicalResult inferRMSNormalization(Inference &node) {
  node.floating("epsilon", 1e-5);
  int64_t axis = node.axis("axis", -1, node.rank(0));
  node.elementTypeOf("stash_type", Float32Type::get(node.context()));
  if (node.failed() || failed(checkTrailing(node, axis)))
    return failure();
  return inferSame(node);
}

LogicalResult inferLpNormalization(Inference &node) {
  node.axis("axis", -1, node.rank(0));
  int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    return node.failure("attribute p = " + Twine(p) + ", expected 1 or 2");
  return inferSame(node);
}

LogicalResult inferMeanVarianceNormalization(Inference &node) {
  node.axes("axes", node.rank(0));
  return inferSame(node);
}

LogicalResult inferLRN(Inference &node) {
  node.integer("size");
  return inferSame(node);
}

} // namespace

void registerNormalizationRules(Registry &registry) {
  registry.add("BatchNormalization", 7, inferBatchNormalization);
  registry.add("InstanceNormalization", 6, inferInstanceNormalization);
  registry.add("GroupNormalization", 18, inferGroupNormalization);
  registry.add("LayerNormalization", 17, inferLayerNormalization);
  registry.add("RMSNormalization", 23, inferRMSNormalization);
  registry.add("LpNormalization", 1, inferLpNormalization);
  registry.add("MeanVarianceNormalization", 9, inferMeanVarianceNormalization);
  registry.add("LRN", 1, inferLRN);
}

} // namespace mtc::onnx

//===- ChannelNormalization.cpp - Normalization by channels: batch, instance and group norm ---===//

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/Conversion.h"
#include "frontend/operators/Formulas.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"
#include "ir/Shape.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

double readEpsilon(NodeView &node) { return node.floating("epsilon", 1e-5); }

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

//===--- BatchNormalization -------------------------------------------------------------------===//

struct BatchStatistics {
  double epsilon, momentum;
  /// Normalizes by the batch's mean and variance, and moves the running ones.
  bool training;

  /// Before version 14 a node trains where it has further results.
  static BatchStatistics read(NodeView &node) {
    BatchStatistics read{readEpsilon(node), node.floating("momentum", 0.9), false};
    if (node.version() >= 14)
      read.training = node.flag("training_mode", false);
    else
      for (size_t i = 1; i < node.resultCount(); ++i)
        read.training |= node.wants(i);
    return read;
  }
};

/// Y, and in training running mean and variance. Before version 14 the two further results are the
/// batch's.
LogicalResult inferBatchNormalization(Inference &node) {
  BatchStatistics::read(node);
  if (!node.hasRank(0, 2) || !areVectors(node, 1, 4, node.dim(0, 1)) ||
      failed(inferSameFloat(node)))
    return failure();
  for (size_t i = 1; i < (node.version() < 14 ? 5 : 3); ++i)
    if (failed(node.result(i, node.type(3))))
      return failure();
  return success();
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias, of the batch's statistics or the running
/// ones. In training
///
///   running = momentum * running + (1 - momentum) * batch's,
///
/// where the variance is that of N elements (PyTorch's own is that of N - 1); running statistics
/// that are state get their new values.
LogicalResult convertBatchNormalization(Conversion &node) {
  auto [epsilon, momentum, training] = BatchStatistics::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.resultShape();
  Type element = node.elementType(0), statistic = computeType(b, element);
  Value x = b.cast(node.value(0), statistic);
  auto operand = [&](size_t i) { return b.cast(node.value(i), statistic); };
  if (!training) {
    Value variance = operand(4);
    Value factor = b.mul(operand(1), b.rsqrt(b.add(variance, b.splat(variance, epsilon))));
    Value centred = b.sub(x, perChannel(b, operand(3), shape));
    Value y = b.add(b.mul(centred, perChannel(b, factor, shape)), perChannel(b, operand(2), shape));
    return node.result(0, b.cast(y, element));
  }
  SmallVector<int64_t> axes = otherAxes(shape.size(), {1});
  Normalized batch = normalize(b, x, axes, epsilon);
  Value y = b.mul(batch.value, perChannel(b, operand(1), shape));
  y = b.cast(b.add(y, perChannel(b, operand(2), shape)), element);
  if (failed(node.result(0, y)))
    return failure();
  for (auto [i, now] : {std::pair<size_t, Value>(1, batch.mean), {2, batch.variance}}) {
    Value before = operand(i + 2);
    Value moved =
        b.add(b.mul(before, b.splat(before, momentum)), b.mul(now, b.splat(now, 1 - momentum)));
    moved = b.cast(moved, node.elementType(i + 2));
    node.program().updateState(node.operand(i + 2), moved);
    // Results 3 and 4 of versions before 14.
    if ((i < node.resultCount() && failed(node.result(i, moved))) ||
        (i + 2 < node.resultCount() &&
         failed(node.result(i + 2, b.cast(now, node.elementType(i + 2))))))
      return failure();
  }
  return success();
}

//===--- InstanceNormalization ----------------------------------------------------------------===//

LogicalResult inferInstanceNormalization(Inference &node) {
  readEpsilon(node);
  if (!node.hasRank(0, 3) || !areVectors(node, 1, 2, node.dim(0, 1)))
    return failure();
  return inferSameFloat(node);
}

/// Each channel of each sample over the axes behind it.
LogicalResult convertInstanceNormalization(Conversion &node) {
  double epsilon = readEpsilon(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  Value x = b.cast(node.value(0), computeType(b, element));
  Value y = b.cast(normalize(b, x, axesFrom(2, node.rank(0)), epsilon).value, element);
  ArrayRef<int64_t> shape = node.resultShape();
  y = b.mul(y, perChannel(b, node.value(1), shape));
  return node.result(0, b.add(y, perChannel(b, node.value(2), shape)));
}

//===--- GroupNormalization -------------------------------------------------------------------===//

struct Groups {
  int64_t count;
  double epsilon;

  static Groups read(NodeView &node) { return {node.integer("num_groups"), readEpsilon(node)}; }
};

/// Scale and bias are per group in version 18, per channel from 21 on.
LogicalResult inferGroupNormalization(Inference &node) {
  int64_t groups = Groups::read(node).count;
  if (node.failed() || !node.hasRank(0, 2))
    return failure();
  int64_t channels = node.dim(0, 1);
  if (groups < 1 || channels % groups != 0)
    return node.failure("attribute num_groups = " + Twine(groups) + " does not divide " +
                        Twine(channels) + " channels");
  if (!areVectors(node, 1, 2, node.version() < 21 ? groups : channels))
    return failure();
  return inferSameFloat(node);
}

LogicalResult convertGroupNormalization(Conversion &node) {
  auto [groups, epsilon] = Groups::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  ArrayRef<int64_t> shape = node.resultShape();
  int64_t perGroup = node.type(0).getNumElements() / (shape[0] * groups);
  SmallVector<int64_t> grouped{shape[0], groups, perGroup};
  Value x = b.reshape(b.cast(node.value(0), computeType(b, element)), grouped);
  Value y = b.cast(normalize(b, x, {2}, epsilon).value, element);
  // As many scales as channels, or as groups: the axes over which they are spread follow.
  SmallVector<int64_t> spread = node.dim(1, 0) == shape[1] ? SmallVector<int64_t>(shape) : grouped;
  y = b.mul(b.reshape(y, spread), perChannel(b, node.value(1), spread));
  y = b.add(y, perChannel(b, node.value(2), spread));
  return node.result(0, b.reshape(y, shape));
}

} // namespace

void registerChannelNormalizationOperators(Operators &operators) {
  operators.add("BatchNormalization", 7,
                {.infer = inferBatchNormalization, .convert = convertBatchNormalization});
  operators.add("InstanceNormalization", 6,
                {.infer = inferInstanceNormalization, .convert = convertInstanceNormalization});
  operators.add("GroupNormalization", 18,
                {.infer = inferGroupNormalization, .convert = convertGroupNormalization});
}

} // namespace mtc::onnx

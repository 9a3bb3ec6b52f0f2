//===- ChannelNormalization.cpp - Batch, instance and group normalization ---------------------===//

#include "frontend/onnx/dialect/BatchNormalization.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "ir/builders/Shape.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

double readEpsilon(NodeView &node) { return node.floating("epsilon", 1e-5); }

/// Returns whether operand `i` is a vector of `extent` elements; emits a diagnostic if it is not.
bool isVector(Inference &node, size_t i, int64_t extent) {
  if (node.shape(i) == ArrayRef<int64_t>(extent))
    return true;
  (void)node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                     ", expected " + shapeText(extent));
  return false;
}

/// Returns whether operands `first` to `last` (such as scale and bias) are float vectors of
/// `extent` elements; emits a diagnostic if they are not.
bool areVectors(Inference &node, size_t first, size_t last, int64_t extent) {
  for (size_t i = first; i <= last; ++i)
    if (!node.floatElements(i) || !isVector(node, i, extent))
      return false;
  return true;
}

//===--- BatchNormalization -------------------------------------------------------------------===//

struct BatchStatistics {
  double epsilon, momentum;
  bool training; // The form in the file, regardless of `--batch-norm`.

  static BatchStatistics read(NodeView &node) {
    return {readEpsilon(node), node.floating("momentum", 0.9), isBatchNormInTrainingForm(node)};
  }
};

/// Infers Y and, in training form, the running mean and variance. Before version 14, results 3 and
/// 4 are the batch statistics.
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

/// Returns operand `i` in the type used to compute statistics.
Value readStatistic(Conversion &node, size_t i) {
  return node.b.cast(node.value(i), computeType(node.b, node.elementType(0)));
}

/// Returns (x - mean) / sqrt(variance + epsilon) * scale + bias with the running statistics, in the
/// compute type.
Value normalizeByRunning(Conversion &node, Value x, double epsilon) {
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.resultShape();
  Value variance = readStatistic(node, 4);
  Value factor =
      b.mul(readStatistic(node, 1), b.rsqrt(b.add(variance, b.splat(variance, epsilon))));
  Value centred = b.sub(x, perChannel(b, readStatistic(node, 3), shape));
  return b.add(b.mul(centred, perChannel(b, factor, shape)),
               perChannel(b, readStatistic(node, 2), shape));
}

LogicalResult convertInferenceBatchNorm(Conversion &node, double epsilon) {
  Value x = readStatistic(node, 0);
  Value y = normalizeByRunning(node, x, epsilon);
  if (failed(node.result(0, node.b.cast(y, node.elementType(0)))))
    return failure();
  for (size_t i = 1; i < node.resultCount(); ++i)
    if (failed(node.result(i, node.value(runningOperand(i)))))
      return failure();
  return success();
}

/// Returns the number of values by which a training step normalizes each channel.
int64_t valuesPerChannel(Conversion &node) {
  return node.program().batchNormRanks() * node.type(0).getNumElements() /
         std::max<int64_t>(node.dim(0, 1), 1);
}

/// Converts the batch variance, the mean over the N values, to the variance by which the running
/// variance is updated. `--batch-norm train` and `sync` choose PyTorch's.
FailureOr<Value> movingVariance(Conversion &node, Value variance) {
  const bool isChosen = node.program().batchNormMode() != BatchNormMode::AsExported;
  const BatchNormFramework framework = batchNormFramework(node.op());
  const int64_t count = valuesPerChannel(node);
  if (framework == BatchNormFramework::Keras ||
      (!isChosen && (framework == BatchNormFramework::Onnx || count < 2)))
    return variance;
  if (count < 2)
    return node.failure("--batch-norm " + stringifyEnum(node.program().batchNormMode()) +
                        ": a step has 1 value per channel, expected at least 2; "
                        "compile with a larger batch, or with --batch-norm frozen");
  double factor = static_cast<double>(count) / static_cast<double>(count - 1);
  return node.b.mul(variance, node.b.splat(variance, factor));
}

/// Warns if each value is normalized by itself: PyTorch refuses such a step.
void warnOfSingleValues(Conversion &node) {
  if (valuesPerChannel(node) == 1)
    emitWarning(node.location(), "BatchNormalization: ")
        << "a step has 1 value per channel, so the result is the bias and the layers before get no "
           "gradient; compile with a larger batch, or with --batch-norm frozen";
}

/// Warns if the running statistics are not state initializers: training does not update them, and
/// evaluation uses their initial values.
void warnOfFixedStatistics(Conversion &node) {
  for (size_t i : {size_t(3), size_t(4)})
    if (InitializerOp initializer = runningStatistic(node.op(), i);
        !initializer || initializer.getRole() != "state") {
      emitWarning(node.location(), "BatchNormalization: ")
          << node.operandName(i)
          << " is not an initializer, so training does not update it; --evaluate and --export use "
             "its value in the file";
      return;
    }
}

/// Training steps compute (x - mean) / sqrt(variance + epsilon) * scale + bias with the batch
/// statistics, and
///
///   running = momentum * running + (1 - momentum) * batch.
///
/// Nodes with the same running statistics update them one after the other. In inference, the node
/// normalizes by the running statistics and does not update them.
LogicalResult convertTrainingBatchNorm(Conversion &node, const BatchStatistics &read) {
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.resultShape();
  Value x = readStatistic(node, 0);
  Normalized batch =
      normalize(b, x, otherAxes(shape.size(), {1}), read.epsilon, node.program().batchNormRanks());
  Value y = b.mul(batch.value, perChannel(b, readStatistic(node, 1), shape));
  y = b.add(y, perChannel(b, readStatistic(node, 2), shape));
  Value runningMean = node.value(3), runningVariance = node.value(4);
  y = b.selectByMode(y, normalizeByRunning(node, x, read.epsilon));
  if (failed(node.result(0, b.cast(y, node.elementType(0)))))
    return failure();
  warnOfFixedStatistics(node);
  if (node.program().batchNormMode() == BatchNormMode::AsExported)
    warnOfSingleValues(node);
  FailureOr<Value> variance = movingVariance(node, batch.variance);
  if (failed(variance))
    return failure();
  auto update = [&](size_t i, Value before, Value now, Value ofBatch) -> LogicalResult {
    Type statistic = typeOf(now).getElementType(), element = typeOf(before).getElementType();
    Value old = b.cast(before, statistic);
    Value moved =
        b.add(b.mul(old, b.splat(old, read.momentum)), b.mul(now, b.splat(now, 1 - read.momentum)));
    moved = b.selectByMode(b.cast(moved, element), before);
    if (InitializerOp statistic = runningStatistic(node.op(), runningOperand(i)))
      node.program().updateState(statistic, moved);
    if (node.wants(i) && failed(node.result(i, moved)))
      return failure();
    if (!node.wants(i + 2)) // Batch statistics, before version 14.
      return success();
    return node.result(i + 2, b.selectByMode(b.cast(ofBatch, element), before));
  };
  if (failed(update(1, runningMean, batch.mean, batch.mean)))
    return failure();
  return update(2, runningVariance, *variance, batch.variance);
}

LogicalResult convertBatchNormalization(Conversion &node) {
  BatchStatistics read = BatchStatistics::read(node);
  if (node.failed())
    return failure();
  BatchNormMode mode = node.program().batchNormMode();
  bool trains = mode == BatchNormMode::AsExported ? read.training : mode != BatchNormMode::Frozen;
  trains &= !node.program().isOnlyOfInference(node.op());
  return trains ? convertTrainingBatchNorm(node, read)
                : convertInferenceBatchNorm(node, read.epsilon);
}

//===--- InstanceNormalization ----------------------------------------------------------------===//

LogicalResult inferInstanceNormalization(Inference &node) {
  readEpsilon(node);
  if (!node.hasRank(0, 3) || !areVectors(node, 1, 2, node.dim(0, 1)))
    return failure();
  return inferSameFloat(node);
}

/// Normalizes each channel of each sample over the spatial axes.
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

/// Scale and bias are per group in version 18, per channel from version 21 on.
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
  // Scale and bias are broadcast over channels or groups, depending on their length.
  SmallVector<int64_t> spread = node.dim(1, 0) == shape[1] ? SmallVector<int64_t>(shape) : grouped;
  y = b.mul(b.reshape(y, spread), perChannel(b, node.value(1), spread));
  y = b.add(y, perChannel(b, node.value(2), spread));
  return node.result(0, b.reshape(y, shape));
}

} // namespace

void addChannelNormalizationOperators(Operators &operators) {
  operators.add("BatchNormalization", 7,
                {.infer = inferBatchNormalization,
                 .convert = convertBatchNormalization,
                 .roles = {{1, OperandRole::BiasOrScale},
                           {2, OperandRole::BiasOrScale},
                           {3, OperandRole::RunningStatistic},
                           {4, OperandRole::RunningStatistic}},
                 .dependsOnStep = true});
  operators.add("InstanceNormalization", 6,
                {.infer = inferInstanceNormalization,
                 .convert = convertInstanceNormalization,
                 .roles = {{1, OperandRole::BiasOrScale}, {2, OperandRole::BiasOrScale}}});
  operators.add("GroupNormalization", 18,
                {.infer = inferGroupNormalization,
                 .convert = convertGroupNormalization,
                 .roles = {{1, OperandRole::BiasOrScale}, {2, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx

//===- Normalization.cpp - Layer normalization and related operators --------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- LayerNormalization, RMSNormalization -------------------------------------------------===//

/// Common attributes: the axes from `axis` on are normalized, in the compute type `stash`.
struct LayerAttributes {
  int64_t axis;
  double epsilon;
  Type stash;
};

FailureOr<LayerAttributes> readLayer(NodeView &node) {
  LayerAttributes read{node.axis("axis", -1, node.rank(0)), node.floating("epsilon", 1e-5),
                       node.elementTypeOf("stash_type", Float32Type::get(node.context()))};
  if (node.failed())
    return failure();
  if (!isa<FloatType>(read.stash))
    return node.failure("attribute stash_type is an integer type, expected a floating-point type");
  return read;
}

/// Checks that scale and bias broadcast to the normalized axes.
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

/// Infers Y, and mean and inverse standard deviation in type `stash_type`, with extent 1 on the
/// normalized axes.
LogicalResult inferLayerNormalization(Inference &node) {
  FailureOr<LayerAttributes> layer = readLayer(node);
  if (failed(layer) || failed(checkTrailing(node, layer->axis)) || failed(inferSameFloat(node)))
    return failure();
  Extents shape(node.shape(0));
  std::fill(shape.begin() + layer->axis, shape.end(), 1);
  return success(succeeded(node.result(1, layer->stash, shape)) &&
                 succeeded(node.result(2, layer->stash, shape)));
}

/// Infers Y, whose type is that of the scale, and the inverse root of the mean square, which only
/// SimplifiedLayerNormalization has.
LogicalResult inferRMSNormalization(Inference &node) {
  FailureOr<LayerAttributes> layer = readLayer(node);
  if (failed(layer) || failed(checkTrailing(node, layer->axis)))
    return failure();
  Extents shape(node.shape(0));
  std::fill(shape.begin() + layer->axis, shape.end(), 1);
  return success(succeeded(node.result(0, node.elementType(1), node.shape(0))) &&
                 succeeded(node.result(1, layer->stash, shape)));
}

/// Returns the operand in the wider of its own type and `stash`.
Value stashed(Conversion &node, const LayerAttributes &layer) {
  Type own = node.elementType(0);
  bool isWider = layer.stash.getIntOrFloatBitWidth() > own.getIntOrFloatBitWidth();
  return node.b.cast(node.value(0), isWider ? layer.stash : own);
}

LogicalResult convertLayerNormalization(Conversion &node) {
  FailureOr<LayerAttributes> layer = readLayer(node);
  if (failed(layer))
    return failure();
  TensorBuilder &b = node.b;
  SmallVector<int64_t> axes = axesFrom(layer->axis, node.rank(0));
  Normalized n = normalize(b, stashed(node, *layer), axes, layer->epsilon);
  Value y = b.cast(n.value, node.elementType(0));
  y = b.mul(y, node.broadcastValue(1, node.resultShape()));
  if (node.has(2))
    y = b.add(y, node.broadcastValue(2, node.resultShape()));
  if (failed(node.result(0, y)))
    return failure();
  for (auto [i, statistic] : {std::pair(1, n.mean), std::pair(2, n.inverseDeviation)})
    if (node.wants(i)) {
      RankedTensorType type = node.resultType(i);
      Value converted = b.cast(statistic, type.getElementType());
      if (failed(node.result(i, b.reshape(converted, type.getShape()))))
        return failure();
    }
  return success();
}

/// x / sqrt(mean(x²) + epsilon) * scale.
LogicalResult convertRMSNormalization(Conversion &node) {
  FailureOr<LayerAttributes> layer = readLayer(node);
  if (failed(layer))
    return failure();
  TensorBuilder &b = node.b;
  Value x = stashed(node, *layer);
  SmallVector<int64_t> axes = axesFrom(layer->axis, node.rank(0));
  auto [value, inverse] = rootMeanSquareNormalize(b, x, axes, layer->epsilon);
  Value y = b.mul(b.cast(value, node.elementType(1)), node.broadcastValue(1, node.resultShape()));
  if (failed(node.result(0, y)) || !node.wants(1))
    return success(!node.failed());
  RankedTensorType type = node.resultType(1);
  return node.result(1, b.reshape(b.cast(inverse, type.getElementType()), type.getShape()));
}

//===--- MeanVarianceNormalization ------------------------------------------------------------===//

/// Returns the reduced axes in ascending order.
SmallVector<int64_t> meanAxes(NodeView &node) {
  auto axes = node.axes("axes", node.rank(0)).value_or(SmallVector<int64_t>{0, 2, 3});
  llvm::sort(axes);
  return axes;
}

LogicalResult inferMeanVarianceNormalization(Inference &node) {
  meanAxes(node);
  return inferSameFloat(node);
}

/// (x - mean) / deviation; the standard adds 1e-9 to the deviation.
LogicalResult convertMeanVarianceNormalization(Conversion &node) {
  SmallVector<int64_t> axes = meanAxes(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value centred = b.sub(x, b.broadcast(meanOver(b, x, axes), axes, shapeOf(x)));
  Value deviation = b.sqrt(meanOver(b, b.mul(centred, centred), axes));
  Value divisor = b.add(deviation, b.splat(deviation, 1e-9));
  return node.result(0, b.div(centred, b.broadcast(divisor, axes, shapeOf(x))));
}

//===--- LpNormalization ----------------------------------------------------------------------===//

struct Norm {
  int64_t axis, p;
};

FailureOr<Norm> readNorm(NodeView &node) {
  Norm norm{node.axis("axis", -1, node.rank(0)), node.integer("p", 2)};
  if (!node.failed() && norm.p != 1 && norm.p != 2)
    return node.failure("attribute p = " + Twine(norm.p) + ", expected 1 or 2");
  if (node.failed())
    return failure();
  return norm;
}

LogicalResult inferLpNormalization(Inference &node) {
  return success(succeeded(readNorm(node)) && succeeded(inferSameFloat(node)));
}

/// x / |x|_p along an axis; vectors of norm 0 remain 0.
LogicalResult convertLpNormalization(Conversion &node) {
  FailureOr<Norm> read = readNorm(node);
  if (failed(read))
    return failure();
  auto [axis, p] = *read;
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value total = b.sum(p == 1 ? b.abs(x) : b.mul(x, x), {axis});
  Value isZero = b.compare(Predicate::Eq, total, b.splat(total, 0.0));
  Value positive = b.select(isZero, b.splat(total, 1.0), total);
  Value norm = p == 1 ? positive : b.sqrt(positive);
  return node.result(0, b.div(x, b.broadcast(norm, {axis}, shapeOf(x))));
}

//===--- LRN ----------------------------------------------------------------------------------===//

struct LocalResponse {
  int64_t size; ///< Number of channels in a region.
  double alpha, beta, bias;

  static LocalResponse read(NodeView &node) {
    return {node.integer("size"), node.floating("alpha", 1e-4), node.floating("beta", 0.75),
            node.floating("bias", 1.0)};
  }
};

LogicalResult inferLRN(Inference &node) {
  LocalResponse read = LocalResponse::read(node);
  if (node.failed() || !node.hasRank(0, 2))
    return failure();
  if (read.size < 1 || read.size > maxElements)
    return node.failure("attribute size = " + Twine(read.size) + ", expected at least 1");
  return inferSameFloat(node);
}

/// x / (bias + alpha / size · sum of the squares of the neighboring channels)^beta. A region of
/// even size extends one channel further after the center than before it. Channels out of bounds
/// count as 0. (Krizhevsky et al., "ImageNet classification with deep convolutional neural
/// networks", 2012, 3.3.)
LogicalResult convertLRN(Conversion &node) {
  LocalResponse read = LocalResponse::read(node);
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  Value x = b.cast(node.value(0), computeType(b, element));
  int64_t rank = node.rank(0), channels = node.dim(0, 1);
  // Limits the region to the existing channels.
  int64_t before = std::min((read.size - 1) / 2, channels);
  int64_t after = std::min(read.size / 2, channels);
  Extents low(rank, 0), high(rank, 0), interior(rank, 0);
  low[1] = before;
  high[1] = after;
  Value regions = b.windows(b.pad(b.mul(x, x), low, high, interior), {1}, {channels},
                            {before + 1 + after}, {1}, {1});
  Value total = b.sum(regions, {rank});
  Value scale = b.add(b.mul(total, b.splat(total, read.alpha / static_cast<double>(read.size))),
                      b.splat(total, read.bias));
  return node.result(0, b.cast(b.mul(x, b.pow(scale, b.splat(scale, -read.beta))), element));
}

} // namespace

void addNormalizationOperators(Operators &operators) {
  // onnxruntime writes LayerNormalization before opset 17, too.
  operators.add("LayerNormalization", 1,
                {.infer = inferLayerNormalization,
                 .convert = convertLayerNormalization,
                 .roles = {{1, OperandRole::BiasOrScale}, {2, OperandRole::BiasOrScale}}});
  for (StringRef name :
       {"SimplifiedLayerNormalization", "com.microsoft::SimplifiedLayerNormalization"})
    operators.add(name, 1,
                  {.infer = inferRMSNormalization,
                   .convert = convertRMSNormalization,
                   .roles = {{1, OperandRole::BiasOrScale}}});
  operators.add("RMSNormalization", 23,
                {.infer = inferRMSNormalization,
                 .convert = convertRMSNormalization,
                 .roles = {{1, OperandRole::BiasOrScale}}});
  operators.add(
      "MeanVarianceNormalization", 9,
      {.infer = inferMeanVarianceNormalization, .convert = convertMeanVarianceNormalization});
  operators.add("LpNormalization", 1,
                {.infer = inferLpNormalization, .convert = convertLpNormalization});
  operators.add("LRN", 1, {.infer = inferLRN, .convert = convertLRN});
}

} // namespace mtc::onnx

//===- Normalization.cpp - Layer norm and its relatives ---------------------------------------===//
//
// In the core: means are sums times 1/n, the variance is that of the centred elements. Sums are
// taken in f32 at least.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Softmax.h"
#include "frontend/dialect/ElementTypes.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

Value meanOver(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  Value sum = b.sum(x, axes);
  return b.mul(sum, b.splat(sum, 1.0 / static_cast<double>(count)));
}

/// (x - mean) / sqrt(variance + epsilon) over axes, and the mean and the factor, without the axes.
struct Normalized {
  Value value, mean, inverseDeviation;
};

Normalized normalize(TensorBuilder &b, Value x, ArrayRef<int64_t> axes, double epsilon) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value mean = meanOver(b, x, axes);
  Value centred = b.sub(x, b.broadcast(mean, axes, shape));
  Value variance = meanOver(b, b.mul(centred, centred), axes);
  Value inverse = b.rsqrt(b.add(variance, b.splat(variance, epsilon)));
  return {b.mul(centred, b.broadcast(inverse, axes, shape)), mean, inverse};
}

/// `stash_type`, the type of the arithmetic; a wider type of the data is kept.
Type stashType(Conversion &node) {
  Type stash = node.elementTypeOf("stash_type", node.b.getF32Type()), own = node.elementType(0);
  if (!node.failed() && !isa<FloatType>(stash))
    (void)node.failure("attribute stash_type names an integer type, expected a float");
  return stash.getIntOrFloatBitWidth() > own.getIntOrFloatBitWidth() ? stash : own;
}

SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

/// What layer norm and RMS norm have in common. `x` is of the type of the arithmetic.
struct LayerOperand {
  Value x;
  SmallVector<int64_t> axes;
  double epsilon;
};

FailureOr<LayerOperand> layerOperand(Conversion &node) {
  int64_t rank = node.rank(0), axis = node.axis("axis", -1, rank);
  double epsilon = node.floating("epsilon", 1e-5);
  Type stash = stashType(node);
  if (node.failed())
    return failure();
  return LayerOperand{node.b.cast(node.value(0), stash), axesFrom(axis, rank), epsilon};
}

/// Results 1 and 2, where asked for, are the mean and the inverse deviation, with the axes as
/// extents of 1.
LogicalResult convertLayerNormalization(Conversion &node) {
  FailureOr<LayerOperand> operand = layerOperand(node);
  if (failed(operand))
    return failure();
  TensorBuilder &b = node.b;
  Normalized n = normalize(b, operand->x, operand->axes, operand->epsilon);
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
  FailureOr<LayerOperand> operand = layerOperand(node);
  if (failed(operand))
    return failure();
  TensorBuilder &b = node.b;
  const auto &[x, axes, epsilon] = *operand;
  Value square = meanOver(b, b.mul(x, x), axes);
  Value inverse = b.rsqrt(b.add(square, b.splat(square, epsilon)));
  Value y = b.mul(x, b.broadcast(inverse, axes, shapeOf(x)));
  y = b.mul(b.cast(y, node.elementType(0)), node.broadcastValue(1, node.resultShape()));
  return node.result(0, y);
}

/// A value for each channel (axis 1 of `shape`), repeated to `shape`.
Value perChannel(TensorBuilder &b, Value channel, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> axes = axesFrom(2, shape.size());
  axes.insert(axes.begin(), 0);
  return b.broadcast(channel, axes, shape);
}

/// Each channel of each sample over the axes behind it.
LogicalResult convertInstanceNormalization(Conversion &node) {
  double epsilon = node.floating("epsilon", 1e-5);
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

/// Groups of channels; before version 21 scale and bias are one for each group.
LogicalResult convertGroupNormalization(Conversion &node) {
  double epsilon = node.floating("epsilon", 1e-5);
  int64_t groups = node.integer("num_groups");
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

/// (x - mean) / deviation over `axes`, which name the axes that vanish; the standard adds 1e-9 to
/// the deviation.
LogicalResult convertMeanVarianceNormalization(Conversion &node) {
  auto axes = node.axes("axes", node.rank(0)).value_or(SmallVector<int64_t>{0, 2, 3});
  if (node.failed())
    return failure();
  llvm::sort(axes);
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value centred = b.sub(x, b.broadcast(meanOver(b, x, axes), axes, shapeOf(x)));
  Value deviation = b.sqrt(meanOver(b, b.mul(centred, centred), axes));
  Value divisor = b.add(deviation, b.splat(deviation, 1e-9));
  return node.result(0, b.div(centred, b.broadcast(divisor, axes, shapeOf(x))));
}

/// x / |x|_p along an axis; rows of norm 0 stay 0.
LogicalResult convertLpNormalization(Conversion &node) {
  int64_t axis = node.axis("axis", -1, node.rank(0)), p = node.integer("p", 2);
  if (!node.failed() && p != 1 && p != 2)
    return node.failure("attribute p = " + Twine(p) + ", expected 1 or 2");
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value total = b.sum(p == 1 ? b.abs(x) : b.mul(x, x), {axis});
  Value isZero = b.compare(Predicate::Eq, total, b.splat(total, 0.0));
  Value positive = b.select(isZero, b.splat(total, 1.0), total);
  Value norm = p == 1 ? positive : b.sqrt(positive);
  return node.result(0, b.div(x, b.broadcast(norm, {axis}, shapeOf(x))));
}

} // namespace

void registerNormalizationConverters(Converters &converters) {
  converters.add("LayerNormalization", 17, convertLayerNormalization);
  converters.add("RMSNormalization", 23, convertRMSNormalization);
  converters.add("InstanceNormalization", 6, convertInstanceNormalization);
  converters.add("GroupNormalization", 18, convertGroupNormalization);
  converters.add("MeanVarianceNormalization", 9, convertMeanVarianceNormalization);
  converters.add("LpNormalization", 1, convertLpNormalization);
}

} // namespace mtc::onnx

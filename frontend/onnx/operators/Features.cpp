//===- Features.cpp - Feature preprocessing of ai.onnx.ml -------------------------------------===//
//
// Operators of ai.onnx.ml that scikit-learn's pipelines use around linear models and neural
// networks. Their attributes are statistics of the data, not parameters. Features are axis 1, or
// the only axis.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

int64_t featureAxis(NodeView &node) { return node.rank(0) == 1 ? 0 : 1; }

/// Returns whether an attribute has one value per feature or a single value; emits a diagnostic
/// otherwise.
bool checkPerFeature(NodeView &node, StringRef name, ArrayRef<double> values) {
  auto count = static_cast<int64_t>(values.size()), features = node.dim(0, featureAxis(node));
  if (count == 1 || count == features)
    return true;
  (void)node.failure("attribute " + name + " has " + Twine(count) + " numbers, expected 1 or " +
                     Twine(features) + ", the number of features");
  return false;
}

/// Returns per-feature values, broadcast to the shape of `x`.
Value perFeature(Conversion &node, ArrayRef<double> values, Value x) {
  TensorBuilder &b = node.b;
  if (values.size() == 1)
    return b.splat(x, values.front());
  Type element = typeOf(x).getElementType();
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(b.getFloatAttr(element, value));
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()), element);
  Value constant = b.constant(DenseElementsAttr::get(type, elements));
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis)
    if (axis != featureAxis(node))
      others.push_back(axis);
  return others.empty() ? constant : b.broadcast(constant, others, shapeOf(x));
}

/// Infers f32 with the operand's shape, which must have at least one axis.
LogicalResult inferF32(Inference &node) {
  if (!node.hasRank(0, 1))
    return failure();
  return node.result(0, Float32Type::get(node.context()), node.shape(0));
}

//===--- Scaler -------------------------------------------------------------------------------===//

LogicalResult inferScaler(Inference &node) {
  if (failed(inferF32(node)) || !checkPerFeature(node, "offset", node.floats("offset", 0.0)) ||
      !checkPerFeature(node, "scale", node.floats("scale", 1.0)))
    return failure();
  return success();
}

/// y = (x - offset) * scale.
LogicalResult convertScaler(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = b.cast(node.value(0), b.getF32Type());
  Value centered = b.sub(x, perFeature(node, node.floats("offset", 0.0), x));
  return node.result(0, b.mul(centered, perFeature(node, node.floats("scale", 1.0), x)));
}

//===--- Normalizer ---------------------------------------------------------------------------===//

LogicalResult inferNormalizer(Inference &node) {
  node.choice("norm", "MAX", {"MAX", "L1", "L2"});
  return node.failed() ? failure() : inferF32(node);
}

/// y = x / max |x|, x / sum |x| or x / (sum x²)^(1/2) over the features; y = x if the divisor is 0.
LogicalResult convertNormalizer(Conversion &node) {
  TensorBuilder &b = node.b;
  StringRef norm = node.choice("norm", "MAX", {"MAX", "L1", "L2"});
  int64_t axis = featureAxis(node);
  Value x = b.cast(node.value(0), b.getF32Type());
  Value total = norm == "MAX"  ? b.reduce(ReductionKind::Max, b.abs(x), {axis})
                : norm == "L1" ? b.sum(b.abs(x), {axis})
                               : b.sum(b.mul(x, x), {axis});
  Value one = b.splat(total, 1.0);
  Value divisor = b.select(b.compare(Predicate::Eq, total, b.splat(total, 0.0)), one, total);
  if (norm == "L2")
    divisor = b.sqrt(divisor);
  return node.result(0, b.div(x, b.broadcast(divisor, {axis}, shapeOf(x))));
}

//===--- Binarizer ----------------------------------------------------------------------------===//

LogicalResult inferBinarizer(Inference &node) {
  node.floating("threshold", 0.0);
  return node.failed() ? failure() : inferSame(node);
}

/// y = 1 where x > threshold, 0 elsewhere.
LogicalResult convertBinarizer(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  Value compared = isa<FloatType>(typeOf(x).getElementType()) ? x : b.cast(x, b.getF64Type());
  Value isAbove =
      b.compare(Predicate::Gt, compared, b.splat(compared, node.floating("threshold", 0.0)));
  return node.result(0, b.cast(isAbove, typeOf(x).getElementType()));
}

//===--- Imputer ------------------------------------------------------------------------------===//

LogicalResult inferImputer(Inference &node) {
  if (!node.floatElements(0) || !node.hasRank(0, 1))
    return failure();
  node.floating("replaced_value_float", 0.0);
  if (!checkPerFeature(node, "imputed_value_floats", node.floats("imputed_value_floats", {})))
    return failure();
  return node.failed() ? failure() : inferSame(node);
}

/// y = imputed where x is the replaced value, which may be NaN; y = x elsewhere.
LogicalResult convertImputer(Conversion &node) {
  TensorBuilder &b = node.b;
  double replaced = node.floating("replaced_value_float", 0.0);
  Value x = node.value(0);
  Value isMissing =
      std::isnan(replaced) ? b.isNan(x) : b.compare(Predicate::Eq, x, b.splat(x, replaced));
  Value imputed = perFeature(node, node.floats("imputed_value_floats", {}), x);
  return node.result(0, b.select(isMissing, imputed, x));
}

//===--- ArrayFeatureExtractor ----------------------------------------------------------------===//

/// Infers the operand's shape with its last axis replaced by the indices; [1, indices] for a
/// vector.
LogicalResult inferArrayFeatureExtractor(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1))
    return failure();
  Extents shape(node.shape(0).drop_back());
  if (shape.empty())
    shape.push_back(1);
  shape.push_back(elementCount(node.shape(1)));
  return node.result(0, node.elementType(0), shape);
}

LogicalResult convertArrayFeatureExtractor(Conversion &node) {
  TensorBuilder &b = node.b;
  int64_t last = node.rank(0) - 1, count = elementCount(node.shape(1));
  Value x = node.value(0), chosen;
  if (auto indices = node.constantInts(1))
    chosen = gatherEvenly(b, x, last, *indices, count);
  if (!chosen)
    chosen = b.gather(x, b.reshape(node.value(1), count), last, /*batch=*/0);
  return node.result(0, b.reshape(chosen, node.resultShape()));
}

} // namespace

void addFeaturesOperators(Operators &operators) {
  operators.add("ai.onnx.ml::Scaler", 1, {.infer = inferScaler, .convert = convertScaler});
  operators.add("ai.onnx.ml::Normalizer", 1,
                {.infer = inferNormalizer, .convert = convertNormalizer});
  operators.add("ai.onnx.ml::Binarizer", 1, {.infer = inferBinarizer, .convert = convertBinarizer});
  operators.add("ai.onnx.ml::Imputer", 1, {.infer = inferImputer, .convert = convertImputer});
  operators.add("ai.onnx.ml::ArrayFeatureExtractor", 1,
                {.infer = inferArrayFeatureExtractor, .convert = convertArrayFeatureExtractor});
}

} // namespace mtc::onnx

//===- Resize.cpp - Resize and Upsample -------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "ir/builders/Shape.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Infers ⌊extent · scale⌋ for each axis.
LogicalResult scaledResult(Inference &node, ArrayRef<int64_t> axes, ArrayRef<double> scales) {
  if (scales.size() != axes.size())
    return node.failure("has " + Twine(scales.size()) + " scales, expected " + Twine(axes.size()));
  Extents shape(node.shape(0));
  for (auto [axis, scale] : llvm::zip(axes, scales)) {
    // Scales are f32; the rounding follows the standard's reference implementation.
    double extent = std::floor(static_cast<double>(shape[axis]) * scale);
    if (!(scale > 0) || !(extent < 9e15))
      return node.failure("has a scale of " + std::to_string(scale) + " on axis " + Twine(axis) +
                          ", expected a positive number");
    shape[axis] = static_cast<int64_t>(extent);
  }
  return node.result(0, node.elementType(0), shape);
}

StringRef readPolicy(NodeView &node) {
  return node.choice("keep_aspect_ratio_policy", "stretch",
                     {"stretch", "not_larger", "not_smaller"});
}

/// Returns the common scale that preserves the aspect ratio: the minimum or maximum over the axes.
/// Returns nothing with policy stretch.
FailureOr<std::optional<double>> commonScale(NodeView &node, ArrayRef<int64_t> axes,
                                             ArrayRef<int64_t> sizes) {
  StringRef policy = readPolicy(node);
  std::optional<double> scale;
  if (policy == "stretch")
    return scale;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    int64_t extent = node.dim(0, axis);
    if (extent == 0 || size < 0)
      return node.failure("cannot keep the aspect ratio of axis " + Twine(axis) + " of extent " +
                          Twine(extent) + " at size " + Twine(size));
    double own = static_cast<double>(size) / static_cast<double>(extent);
    if (!scale)
      scale = own;
    else
      scale = policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own);
  }
  return scale;
}

/// Infers the given sizes; with an aspect ratio policy, applies the common scale to all axes and
/// rounds to nearest.
LogicalResult sizedResult(Inference &node, ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes) {
  if (sizes.size() != axes.size())
    return node.failure("has " + Twine(sizes.size()) + " sizes, expected " + Twine(axes.size()));
  FailureOr<std::optional<double>> scale = commonScale(node, axes, sizes);
  if (failed(scale))
    return failure();
  Extents shape(node.shape(0));
  for (auto [axis, size] : llvm::zip(axes, sizes))
    shape[axis] =
        *scale ? static_cast<int64_t>(std::floor(**scale * static_cast<double>(shape[axis]) + 0.5))
               : size;
  return node.result(0, node.elementType(0), shape);
}

Extents resizedAxes(NodeView &node) {
  return node.axes("axes", node.rank(0))
      .value_or(llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))));
}

StringRef readMode(NodeView &node) {
  return node.choice("mode", "nearest", {"nearest", "linear", "cubic"});
}

/// From version 11 on, the scales are operand 2, because the region of interest precedes them.
size_t scalesOperand(NodeView &node) { return node.version() < 11 ? 1 : 2; }

/// Exactly one of scales and sizes must be present and not empty.
LogicalResult inferResize(Inference &node) {
  size_t scalesAt = scalesOperand(node);
  readMode(node);
  readPolicy(node);
  Extents axes = resizedAxes(node);
  if (node.failed())
    return failure();
  bool hasScales = node.has(scalesAt) && node.type(scalesAt).getNumElements() != 0;
  bool hasSizes = node.has(3) && node.type(3).getNumElements() != 0;
  if (hasScales == hasSizes)
    return node.failure(hasScales ? "has scales and sizes, expected one of them"
                                  : "has neither scales nor sizes");
  if (hasSizes) {
    std::optional<Extents> sizes = node.constantInts(3);
    return sizes ? sizedResult(node, axes, *sizes) : node.needsConstant(3);
  }
  std::optional<SmallVector<double>> scales = node.constantFloats(scalesAt);
  return scales ? scaledResult(node, axes, *scales) : node.needsConstant(scalesAt);
}

//===--- Conversion ---------------------------------------------------------------------------===//

/// Resizes an axis of `from` elements to `to` elements.
struct AxisResize {
  int64_t axis, from, to;
  double scale;              ///< As specified; to / from if sizes are specified.
  double length;             ///< scale * from, which is rounded down to `to`.
  double start = 0, end = 1; ///< The region of interest, in units of the axis.
};

/// Interpolation parameters, with the names of Resize's attributes.
struct Interpolation {
  StringRef mode, coordinates, nearest;
  double cubic, extrapolation;
  bool antialias, excludesOutside;

  /// Before version 11: x / scale, rounded down.
  static FailureOr<Interpolation> read(NodeView &node) {
    bool isOld = node.version() < 11;
    Interpolation read{
        readMode(node),
        node.choice("coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel",
                    {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                     "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"}),
        node.choice("nearest_mode", isOld ? "floor" : "round_prefer_floor",
                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
        node.floating("cubic_coeff_a", -0.75),
        node.floating("extrapolation_value", 0.0),
        node.flag("antialias", false),
        node.flag("exclude_outside", false)};
    if (node.failed())
      return failure();
    return read;
  }

  /// Returns whether the mode resizes a region of interest. Elements of the result outside the
  /// operand are `extrapolation` instead of interpolated.
  bool crops() const { return coordinates == "tf_crop_and_resize"; }

  /// Returns the operand coordinate for element `i` of the result.
  double place(const AxisResize &axis, int64_t i) const {
    double x = static_cast<double>(i), from = static_cast<double>(axis.from);
    if (coordinates == "asymmetric")
      return x / axis.scale;
    if (crops()) {
      if (axis.length == 1)
        return (axis.start + axis.end) / 2 * (from - 1);
      return axis.start * (from - 1) + x * (axis.end - axis.start) * (from - 1) / (axis.length - 1);
    }
    if (coordinates == "align_corners")
      return axis.to == 1 ? 0 : x * (from - 1) / (axis.length - 1);
    if (coordinates == "pytorch_half_pixel" && axis.length <= 1)
      return 0;
    if (coordinates == "tf_half_pixel_for_nn")
      return (x + 0.5) / axis.scale;
    double shift = 0;
    if (coordinates == "half_pixel_symmetric")
      shift = from / 2 * (1 - static_cast<double>(axis.to) / axis.length);
    return shift + (x + 0.5) / axis.scale - 0.5;
  }

  /// Returns whether element `i` of the result is extrapolated.
  bool isOutside(const AxisResize &axis, int64_t i) const {
    double at = place(axis, i);
    return crops() && (at < 0 || at > static_cast<double>(axis.from - 1));
  }

  /// Returns the index of the element nearest to a coordinate, clamped to the axis.
  int64_t nearestTo(double place, int64_t extent) const {
    double index = nearest == "floor"               ? std::floor(place)
                   : nearest == "ceil"              ? std::ceil(place)
                   : nearest == "round_prefer_ceil" ? std::floor(place + 0.5)
                                                    : std::ceil(place - 0.5);
    return static_cast<int64_t>(std::clamp<double>(index, 0, static_cast<double>(extent - 1)));
  }

  /// Returns the weight of an element by its distance: linear, or Keys' cubic convolution ("Cubic
  /// convolution interpolation for digital image processing", 1981).
  double weightAt(double distance) const {
    double x = std::abs(distance);
    if (mode == "linear")
      return std::max(0.0, 1 - x);
    if (x <= 1)
      return ((cubic + 2) * x - (cubic + 3)) * x * x + 1;
    return x < 2 ? ((cubic * x - 5 * cubic) * x + 8 * cubic) * x - 4 * cubic : 0;
  }

  /// Returns the weights [to, from] of the operand's elements for each element of the result.
  /// Antialiasing widens the filter when downsampling. Elements out of bounds are clamped or, with
  /// exclude_outside, ignored. The weights of extrapolated elements are 0.
  SmallVector<double> weights(const AxisResize &axis) const {
    SmallVector<double> matrix(axis.to * axis.from, 0.0);
    double narrow = antialias ? std::min(axis.scale, 1.0) : 1.0;
    auto reach = static_cast<int64_t>(std::ceil((mode == "linear" ? 1 : 2) / narrow));
    for (int64_t i = 0; i < axis.to; ++i) {
      if (isOutside(axis, i))
        continue;
      double at = place(axis, i), sum = 0;
      auto middle = static_cast<int64_t>(std::floor(at));
      double *row = matrix.data() + i * axis.from;
      for (int64_t j = middle - reach; j <= middle + 1 + reach; ++j) {
        bool isInside = j >= 0 && j < axis.from;
        double weight = weightAt(narrow * (static_cast<double>(j) - at));
        if (!isInside && excludesOutside)
          continue;
        row[std::clamp<int64_t>(j, 0, axis.from - 1)] += weight;
        sum += weight;
      }
      for (int64_t j = 0; j < axis.from; ++j)
        row[j] /= sum;
    }
    return matrix;
  }
};

/// Repeats elements if each occurs equally often in the result, otherwise gathers the nearest ones.
Value resizeToNearest(TensorBuilder &b, Value x, const AxisResize &axis,
                      const Interpolation &interpolation) {
  SmallVector<int64_t> indices;
  for (int64_t i = 0; i < axis.to; ++i)
    indices.push_back(interpolation.nearestTo(interpolation.place(axis, i), axis.from));
  int64_t times = axis.to / axis.from;
  bool repeats = axis.to % axis.from == 0;
  for (auto [i, index] : llvm::enumerate(indices))
    repeats &= times > 0 && index == static_cast<int64_t>(i) / times;
  if (!repeats) {
    auto type = RankedTensorType::get(axis.to, b.getI64Type());
    return b.gather(x, b.constant(DenseElementsAttr::get(type, ArrayRef(indices))), axis.axis, 0);
  }
  Extents shape(shapeOf(x));
  shape.insert(shape.begin() + axis.axis + 1, times);
  Value repeated = b.broadcast(x, {axis.axis + 1}, shape);
  shape.erase(shape.begin() + axis.axis + 1);
  shape[axis.axis] = axis.to;
  return b.reshape(repeated, shape);
}

/// Contracts the axis with the weight matrix.
Value resizeByWeights(TensorBuilder &b, Value x, const AxisResize &axis,
                      const Interpolation &interpolation) {
  auto type = RankedTensorType::get({axis.to, axis.from}, typeOf(x).getElementType());
  Value weights =
      b.constant(Tensor::fromValues<double>(type, interpolation.weights(axis))->toAttribute());
  return b.transpose(b.contract(x, weights, {}, {}, {axis.axis}, {1}),
                     axisBack(typeOf(x).getRank(), axis.axis));
}

/// Replaces the elements that are outside the operand along the axis.
Value extrapolate(TensorBuilder &b, Value x, const AxisResize &axis,
                  const Interpolation &interpolation) {
  SmallVector<bool> outside;
  for (int64_t i = 0; i < axis.to; ++i)
    outside.push_back(interpolation.isOutside(axis, i));
  if (llvm::none_of(outside, [](bool is) { return is; }))
    return x;
  auto type = RankedTensorType::get(axis.to, b.getI1Type());
  Value isOutside = b.constant(DenseElementsAttr::get(type, ArrayRef<bool>(outside)));
  isOutside = b.broadcast(isOutside, otherAxes(typeOf(x).getRank(), {axis.axis}), shapeOf(x));
  return b.select(isOutside, b.splat(x, interpolation.extrapolation), x);
}

/// Returns the starts, then the ends, of the region of interest on the axes.
FailureOr<SmallVector<double>> regionOfInterest(Conversion &node, size_t axes) {
  if (node.has(2) && node.type(2).getNumElements() != 0)
    return node.failure("coordinate_transformation_mode tf_crop_and_resize has scales, expected "
                        "sizes: runtimes differ in whether scales are relative to the region");
  if (!node.has(1))
    return node.failure("coordinate_transformation_mode tf_crop_and_resize needs " +
                        node.operandName(1));
  std::optional<SmallVector<double>> region = node.constantFloats(1);
  if (!region)
    return node.needsConstant(1);
  if (region->size() != 2 * axes)
    return node.failure(node.operandName(1) + " holds " + Twine(region->size()) +
                        " numbers, expected " + Twine(2 * axes));
  return *region;
}

LogicalResult resize(Conversion &node, ArrayRef<int64_t> axes, ArrayRef<double> scales) {
  FailureOr<Interpolation> interpolation = Interpolation::read(node);
  if (failed(interpolation))
    return failure();
  SmallVector<double> region;
  if (interpolation->crops()) {
    FailureOr<SmallVector<double>> read = regionOfInterest(node, axes.size());
    if (failed(read))
      return failure();
    region = *read;
  }
  bool isNearest = interpolation->mode == "nearest";
  if (!isNearest && !isa<FloatType>(node.elementType(0)))
    return node.failure("interpolates integers, expected mode nearest or floating-point elements");
  Value x = node.value(0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    AxisResize resize{axis, node.dim(0, axis), node.resultShape()[axis], 0, 0};
    auto from = static_cast<double>(resize.from), to = static_cast<double>(resize.to);
    resize.scale = scales.empty() ? to / from : scales[i];
    resize.length = scales.empty() ? to : scales[i] * from;
    if (!region.empty()) {
      resize.start = region[i];
      resize.end = region[axes.size() + i];
    }
    if (resize.from == resize.to && resize.scale == 1 && resize.start == 0 && resize.end == 1)
      continue;
    if (resize.from == 0)
      return node.failure("interpolates axis " + Twine(axis) + ", which is empty");
    int64_t weights = resize.to;
    if ((!isNearest && llvm::MulOverflow(resize.to, resize.from, weights)) ||
        weights > maxFoldedElements)
      return node.failure("interpolates " + Twine(resize.from) + " elements to " +
                          Twine(resize.to) + " on axis " + Twine(axis) +
                          ", which needs more than " + Twine(maxFoldedElements) + " numbers");
    x = isNearest ? resizeToNearest(node.b, x, resize, *interpolation)
                  : resizeByWeights(node.b, x, resize, *interpolation);
    x = extrapolate(node.b, x, resize, *interpolation);
  }
  return node.result(0, x);
}

LogicalResult convertResize(Conversion &node) {
  size_t scalesAt = scalesOperand(node);
  Extents axes = resizedAxes(node);
  if (node.has(scalesAt) && node.type(scalesAt).getNumElements() != 0)
    return resize(node, axes, *node.constantFloats(scalesAt));
  FailureOr<std::optional<double>> scale = commonScale(node, axes, *node.constantInts(3));
  if (failed(scale))
    return failure();
  return resize(node, axes,
                *scale ? SmallVector<double>(axes.size(), **scale) : SmallVector<double>());
}

//===--- Upsample -----------------------------------------------------------------------------===//

/// Returns the scale of each axis: an attribute before version 9, operand 1 from then on.
std::optional<SmallVector<double>> upsampleScales(NodeView &node) {
  return node.version() < 9 ? node.floats("scales", {}) : node.constantFloats(1);
}

/// Upsample is the predecessor of Resize.
LogicalResult inferUpsample(Inference &node) {
  readMode(node);
  std::optional<SmallVector<double>> scales = upsampleScales(node);
  if (!scales)
    return node.needsConstant(1);
  return scaledResult(node, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))), *scales);
}

LogicalResult convertUpsample(Conversion &node) {
  return resize(node, llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))), *upsampleScales(node));
}

} // namespace

void addResizeOperators(Operators &operators) {
  operators.add("Resize", 10,
                {.infer = inferResize,
                 .convert = convertResize,
                 .roles = {{1, OperandRole::NoGradient},
                           {2, OperandRole::NoGradient},
                           {3, OperandRole::NoGradient}}});
  operators.add("Upsample", 7,
                {.infer = inferUpsample,
                 .convert = convertUpsample,
                 .roles = {{1, OperandRole::NoGradient}}});
}

} // namespace mtc::onnx

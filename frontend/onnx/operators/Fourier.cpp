//===- Fourier.cpp - DFT and STFT -------------------------------------------------------------===//
//
// The last axis contains the real part, or the real and the imaginary part. A transform is a linear
// map, built as one contraction with its matrix.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Inference.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// A discrete Fourier transform of `length` points.
struct Transform {
  int64_t length;
  bool isInverse, isOneSided;
  int64_t parts; ///< Size of the operand's last axis: 1 (real) or 2 (complex).

  /// Number of points that determine the spectrum of a real signal: n / 2 + 1.
  int64_t half() const { return length / 2 + 1; }
  /// Maximum number of points of the operand that are read.
  int64_t readPoints() const { return isInverse && isOneSided ? half() : length; }
  int64_t points() const { return !isInverse && isOneSided ? half() : length; }
  int64_t resultParts() const { return isInverse && isOneSided ? 1 : 2; }

  /// Returns the matrix [points, resultParts, from, parts] of e^(∓2πi k n / length), divided by the
  /// length for the inverse. In a one-sided inverse, points that represent a conjugate pair count
  /// twice.
  std::optional<Tensor> matrix(Type element, int64_t from) const {
    auto type = RankedTensorType::get({points(), resultParts(), from, parts}, element);
    if (!isAddressable(type.getShape()) || type.getNumElements() > maxFoldedElements)
      return std::nullopt;
    std::vector<double> values(type.getNumElements());
    double factor = isInverse ? 1 / static_cast<double>(length) : 1, sign = isInverse ? 1 : -1;
    auto value = values.begin();
    for (int64_t k = 0; k < points(); ++k)
      for (int64_t part = 0; part < resultParts(); ++part)
        for (int64_t n = 0; n < from; ++n) {
          bool standsForTwo = isInverse && isOneSided && n != 0 && 2 * n != length;
          // Reduces the angle modulo a full circle exactly.
          double angle = 2 * std::numbers::pi * static_cast<double>(k * n % length) /
                         static_cast<double>(length);
          double real = factor * (standsForTwo ? 2 : 1) * std::cos(angle);
          double imaginary = factor * (standsForTwo ? 2 : 1) * sign * std::sin(angle);
          *value++ = part == 0 ? real : imaginary;
          if (parts == 2)
            *value++ = part == 0 ? -imaginary : real;
        }
    return Tensor::fromValues<double>(type, values);
  }
};

/// Returns a scalar integer operand that is known at compile time.
FailureOr<int64_t> constantInteger(NodeView &node, size_t operand) {
  std::optional<Extents> value = node.constantInts(operand);
  if (!value)
    return node.needsConstant(operand);
  if (value->size() != 1)
    return node.failure(Twine(node.operandName(operand)) + " must hold one integer");
  return value->front();
}

/// Transforms `x` along `axis`; the last axis contains the parts.
FailureOr<Value> transformed(Conversion &node, Value x, int64_t axis, const Transform &transform) {
  TensorBuilder &b = node.b;
  int64_t rank = typeOf(x).getRank(), from = std::min(shapeOf(x)[axis], transform.readPoints());
  Extents zero(rank, 0), one(rank, 1), sizes(shapeOf(x));
  sizes[axis] = from;
  if (shapeOf(x) != ArrayRef<int64_t>(sizes))
    x = b.slice(x, zero, sizes, one);
  std::optional<Tensor> matrix = transform.matrix(typeOf(x).getElementType(), from);
  if (!matrix)
    return node.failure("transforms " + Twine(from) + " points to " + Twine(transform.points()) +
                        ", which needs a matrix of more than " + Twine(maxFoldedElements) +
                        " numbers");
  Value y = b.contract(x, b.constant(matrix->toAttribute()), {}, {}, {axis, rank - 1}, {2, 3});
  // The contraction appends the points as the second-last axis. Moves them back to `axis`.
  Extents order;
  for (int64_t i = 0; i < rank - 1; ++i)
    order.push_back(i < axis ? i : i == axis ? rank - 2 : i - 1);
  order.push_back(rank - 1);
  return b.transpose(y, order);
}

//===--- DFT ----------------------------------------------------------------------------------===//

struct FourierAxis {
  int64_t axis;
  Transform transform;

  /// The axis is an attribute before version 20, operand 2 from then on.
  static FailureOr<FourierAxis> read(NodeView &node) {
    bool isInverse = node.flag("inverse", false), isOneSided = node.flag("onesided", false);
    if (node.failed() || !node.hasRank(0, 2))
      return failure();
    int64_t rank = node.rank(0), axis = 0;
    if (node.version() < 20) {
      axis = node.axis("axis", 1, rank);
    } else if (!node.has(2)) {
      axis = rank - 2;
    } else {
      FailureOr<int64_t> given = constantInteger(node, 2);
      if (failed(given))
        return failure();
      axis = node.normalized(*given, rank, node.operandName(2));
    }
    if (node.failed())
      return failure();
    if (axis == rank - 1)
      return node.failure("transforms the last axis, which holds the real and imaginary parts");
    int64_t parts = node.shape(0).back(), extent = node.dim(0, axis);
    if (parts != 1 && parts != 2)
      return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(node.shape(0)) +
                          ", expected 1 or 2 on the last axis");
    if (isOneSided && parts != (isInverse ? 2 : 1))
      return node.failure(
          isInverse ? "has real numbers in a one-sided inverse transform, expected complex numbers"
                    : "has complex numbers in a one-sided transform, expected real numbers");
    FailureOr<int64_t> length = isOneSided && isInverse ? 2 * (extent - 1) : extent;
    if (node.has(1))
      length = constantInteger(node, 1);
    if (failed(length))
      return failure();
    if (*length < 1 || *length > INT32_MAX)
      return node.failure("transforms " + Twine(*length) + " points, expected at least 1");
    return FourierAxis{axis, {*length, isInverse, isOneSided, parts}};
  }
};

LogicalResult inferDFT(Inference &node) {
  FailureOr<FourierAxis> read = FourierAxis::read(node);
  if (failed(read))
    return failure();
  Extents shape(node.shape(0));
  shape[read->axis] = read->transform.points();
  shape.back() = read->transform.resultParts();
  return node.result(0, node.elementType(0), shape);
}

LogicalResult convertDFT(Conversion &node) {
  FailureOr<FourierAxis> read = FourierAxis::read(node);
  if (failed(read))
    return failure();
  FailureOr<Value> y = transformed(node, node.value(0), read->axis, read->transform);
  return failed(y) ? failure() : node.result(0, *y);
}

//===--- STFT ---------------------------------------------------------------------------------===//

struct Frames {
  int64_t step, count;
  int64_t width; ///< Points of a frame within the window.
  Transform transform;

  static FailureOr<Frames> read(NodeView &node) {
    bool isOneSided = node.flag("onesided", true);
    if (node.failed() || !node.hasRank(0, 2, 3) || (node.has(2) && !node.hasRank(2, 1, 1)))
      return failure();
    int64_t parts = node.rank(0) == 3 ? node.dim(0, 2) : 1, points = node.dim(0, 1);
    if (parts != 1 && parts != 2)
      return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(node.shape(0)) +
                          ", expected 1 or 2 on the last axis");
    if (isOneSided && parts == 2)
      return node.failure("has complex numbers in a one-sided transform, expected real numbers");
    FailureOr<int64_t> step = constantInteger(node, 1);
    FailureOr<int64_t> length = node.has(2) ? node.dim(2, 0) : points;
    if (node.has(3))
      length = constantInteger(node, 3);
    if (failed(step) || failed(length))
      return failure();
    if (*step < 1 || *length < 1 || *length > points)
      return node.failure("has frames of " + Twine(*length) + " points with step " + Twine(*step) +
                          ", expected at least 1 and at most the signal length " + Twine(points));
    int64_t width = node.has(2) ? node.dim(2, 0) : *length;
    if (width > *length)
      return node.failure(Twine(node.operandName(2)) + " has " + Twine(width) +
                          " points, expected at most the frame length " + Twine(*length));
    return Frames{
        *step, (points - *length) / *step + 1, width, {*length, false, isOneSided, parts}};
  }
};

/// Signal [N, points, 1 or 2], result [N, frames, points of the spectrum, 2].
LogicalResult inferSTFT(Inference &node) {
  FailureOr<Frames> frames = Frames::read(node);
  if (failed(frames))
    return failure();
  return node.result(0, node.elementType(0),
                     {node.dim(0, 0), frames->count, frames->transform.points(), 2});
}

/// Transforms each frame after multiplication with the window.
LogicalResult convertSTFT(Conversion &node) {
  FailureOr<Frames> frames = Frames::read(node);
  if (failed(frames))
    return failure();
  TensorBuilder &b = node.b;
  int64_t parts = frames->transform.parts;
  Value signal = b.reshape(node.value(0), {node.dim(0, 0), node.dim(0, 1), parts});
  // [N, frames, parts, points].
  Value x = b.windows(signal, {1}, {frames->count}, {frames->width}, {frames->step}, {1});
  if (node.has(2))
    x = b.mul(x, b.broadcast(node.value(2), {0, 1, 2}, shapeOf(x)));
  FailureOr<Value> y = transformed(node, b.transpose(x, {0, 1, 3, 2}), 2, frames->transform);
  return failed(y) ? failure() : node.result(0, *y);
}

} // namespace

void addFourierOperators(Operators &operators) {
  operators.add("DFT", 17, {.infer = inferDFT, .convert = convertDFT});
  operators.add("STFT", 17, {.infer = inferSTFT, .convert = convertSTFT});
}

} // namespace mtc::onnx

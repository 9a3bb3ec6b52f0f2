//===- Spectral.cpp - Window functions and MelWeightMatrix, which are always folded -----------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {
namespace {

Type outputType(NodeView &node) {
  return node.elementTypeOf("output_datatype", Float32Type::get(node.context()));
}

/// Returns the value of each operand, which must be constant scalars.
FailureOr<SmallVector<double>> scalars(Inference &node) {
  SmallVector<double> values;
  for (size_t i = 0; i < node.operandCount(); ++i) {
    std::optional<SmallVector<double>> value = node.constantFloats(i);
    if (!value)
      return node.needsConstant(i);
    if (value->size() != 1)
      return node.failure(Twine(node.operandName(i)) + " has " + Twine(value->size()) +
                          " elements, expected 1");
    values.push_back(value->front());
  }
  return values;
}

/// Returns whether a value is a valid number of elements or points.
bool isCount(double value) {
  return value >= 0 && value <= static_cast<double>(maxFoldedElements) &&
         value == std::floor(value);
}

LogicalResult fold(Inference &node, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  auto type = RankedTensorType::get(shape, outputType(node));
  if (node.failed())
    return failure();
  if (!Tensor::holds(type.getElementType()))
    return node.failure("attribute output_datatype is not supported");
  node.fold(0, values.empty() ? Tensor::allocate(type) : Tensor::fromValues<double>(type, values));
  return node.result(0, type);
}

/// Folds c0 - c1 cos(2πn / N) + c2 cos(4πn / N) for n < `size`, where N is `size` for periodic
/// windows and `size` - 1 for symmetric ones.
LogicalResult inferCosineWindow(Inference &node, double c0, double c1, double c2) {
  bool isPeriodic = node.flag("periodic", true);
  FailureOr<SmallVector<double>> size = scalars(node);
  if (failed(size) || node.failed())
    return failure();
  if (!isCount(size->front()))
    return node.failure(Twine(node.operandName(0)) + " must hold one integer of at least 0, and " +
                        "at most " + Twine(maxFoldedElements));
  std::vector<double> values(static_cast<size_t>(size->front()), 1.0);
  double period = isPeriodic ? size->front() : size->front() - 1;
  for (size_t i = 0; period > 0 && i < values.size(); ++i) {
    double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    values[i] = c0 - c1 * std::cos(angle) + c2 * std::cos(2 * angle);
  }
  return fold(node, {static_cast<int64_t>(values.size())}, values);
}

/// Folds triangular filters, evenly spaced on the mel scale 2595 log10(1 + f / 700), as weights of
/// the points of a spectrum: [points / 2 + 1, triangles].
LogicalResult inferMelWeightMatrix(Inference &node) {
  FailureOr<SmallVector<double>> read = scalars(node);
  if (failed(read))
    return failure();
  double triangles = (*read)[0], points = (*read)[1], rate = (*read)[2], low = (*read)[3],
         high = (*read)[4];
  double rows = std::floor(points / 2) + 1;
  if (!isCount(triangles) || !isCount(points) || !isCount(rows * triangles) || !(rate > 0) ||
      !(low >= 0) || !(high > low) || !(high <= rate / 2))
    return node.failure(
        "has edges of " + std::to_string(low) + " and " + std::to_string(high) +
        " Hz, expected increasing edges up to half of the sample rate, and non-negative counts");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double step = (mel(high) - mel(low)) / (triangles + 2);
  auto bin = [&](int64_t i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    return static_cast<int64_t>(std::floor((points + 1) * hertz / rate));
  };
  auto columns = static_cast<int64_t>(triangles);
  std::vector<double> values(static_cast<size_t>(rows * triangles), 0.0);
  auto at = [&](int64_t row, int64_t column) -> double & { return values[row * columns + column]; };
  for (int64_t i = 0; i < columns; ++i) {
    int64_t lower = bin(i), centre = bin(i + 1), upper = bin(i + 2);
    if (lower == centre)
      at(centre, i) = 1;
    for (int64_t row = lower; lower < centre && row <= centre; ++row)
      at(row, i) = static_cast<double>(row - lower) / static_cast<double>(centre - lower);
    for (int64_t row = centre; row < upper; ++row)
      at(row, i) = static_cast<double>(upper - row) / static_cast<double>(upper - centre);
  }
  return fold(node, {static_cast<int64_t>(rows), columns}, values);
}

} // namespace

void addSpectralOperators(Operators &operators) {
  operators.add("HannWindow", 17,
                {.infer = [](Inference &node) { return inferCosineWindow(node, 0.5, 0.5, 0); }});
  operators.add("HammingWindow", 17, {.infer = [](Inference &node) {
                  return inferCosineWindow(node, 25.0 / 46, 21.0 / 46, 0);
                }});
  operators.add("BlackmanWindow", 17, {.infer = [](Inference &node) {
                  return inferCosineWindow(node, 0.42, 0.5, 0.08);
                }});
  operators.add("MelWeightMatrix", 17, {.infer = inferMelWeightMatrix});
}

} // namespace mtc::onnx

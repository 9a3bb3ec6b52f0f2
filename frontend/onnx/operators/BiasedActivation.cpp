//===- BiasedActivation.cpp - Activation functions of onnxruntime, with a bias ----------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Elementwise.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/ActivationFormulas.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Checks that operand 1, if present, is a vector with one element per column of operand 0.
bool hasBiasShape(Inference &node) {
  return !node.has(1) || (node.hasRank(0, 1) && node.hasShape(1, node.shape(0).back()));
}

/// Returns operand 0 plus the bias in operand 1, if present.
Value biased(Conversion &node) {
  Value x = node.value(0);
  return node.has(1) ? node.b.add(x, node.broadcastValue(1, node.shape(0))) : x;
}

LogicalResult inferBiased(Inference &node) {
  return success(hasBiasShape(node) && succeeded(inferSame(node)));
}

LogicalResult convertGelu(Conversion &node) { return node.result(0, gelu(node.b, biased(node))); }

LogicalResult convertFastGelu(Conversion &node) {
  return node.result(0, tanhGelu(node.b, biased(node)));
}

//===--- BiasAdd ------------------------------------------------------------------------------===//

LogicalResult inferBiasAdd(Inference &node) {
  return success(hasBiasShape(node) && node.hasShape(2, node.shape(0)) &&
                 succeeded(inferSame(node)));
}

/// x + bias + skip.
LogicalResult convertBiasAdd(Conversion &node) {
  return node.result(0, node.b.add(biased(node), node.value(2)));
}

//===--- BiasSplitGelu ------------------------------------------------------------------------===//

LogicalResult inferBiasSplitGelu(Inference &node) {
  if (!hasBiasShape(node))
    return failure();
  Extents shape(node.shape(0));
  if (shape.back() % 2 != 0)
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(shape) +
                        ", expected an even number of columns");
  shape.back() /= 2;
  return node.result(0, node.elementType(0), shape);
}

/// u gelu(v), where u and v are the halves of x + bias.
LogicalResult convertBiasSplitGelu(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = biased(node);
  ArrayRef<int64_t> half = node.resultShape();
  SmallVector<int64_t> offsets(half.size(), 0), strides(half.size(), 1);
  Value left = b.slice(x, offsets, half, strides);
  offsets.back() = half.back();
  Value right = b.slice(x, offsets, half, strides);
  return node.result(0, b.mul(left, gelu(b, right)));
}

} // namespace

void addBiasedActivationOperators(Operators &operators) {
  for (StringRef name : {"com.microsoft::Gelu", "com.microsoft::BiasGelu"})
    operators.add(
        name, 1,
        {.infer = inferBiased, .convert = convertGelu, .roles = {{1, OperandRole::BiasOrScale}}});
  addElementwise(
      operators, "com.microsoft::QuickGelu", 1,
      [](auto x, auto alpha) { return x / (1 + std::exp(-alpha * x)); }, swish,
      FloatAttribute{"alpha", 1.702});
  operators.add(
      "com.microsoft::FastGelu", 1,
      {.infer = inferBiased, .convert = convertFastGelu, .roles = {{1, OperandRole::BiasOrScale}}});
  operators.add("com.microsoft::BiasAdd", 1,
                {.infer = inferBiasAdd,
                 .convert = convertBiasAdd,
                 .roles = {{1, OperandRole::BiasOrScale}, {2, OperandRole::BiasOrScale}}});
  operators.add("com.microsoft::BiasSplitGelu", 1,
                {.infer = inferBiasSplitGelu,
                 .convert = convertBiasSplitGelu,
                 .roles = {{1, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx

//===- Quantization.cpp - Integers that stand for scaled numbers: types only ------------------===//

#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The element type that `output_dtype` names; 0 leaves it open.
Type outputElement(NodeView &node, Type byDefault) {
  return node.integer("output_dtype", 0) ? node.elementTypeOf("output_dtype") : byDefault;
}

/// Quantization: the result has the zero point's element type, or that of `output_dtype`, ui8
/// otherwise.
LogicalResult inferQuantize(Inference &node) {
  Type byDefault = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (node.has(2))
    byDefault = node.elementType(2);
  return node.result(0, outputElement(node, byDefault), node.shape(0));
}

/// The result has the scale's element type, or that of `output_dtype`.
LogicalResult inferDequantize(Inference &node) {
  return node.result(0, outputElement(node, node.elementType(1)), node.shape(0));
}

/// y, y_scale, y_zero_point: ui8, f32 scalar, ui8 scalar.
LogicalResult inferDynamicQuantize(Inference &node) {
  Type byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  return success(succeeded(node.result(0, byte, node.shape(0))) &&
                 succeeded(node.result(1, Float32Type::get(node.context()), {})) &&
                 succeeded(node.result(2, byte, {})));
}

} // namespace

void registerQuantizationOperators(Operators &operators) {
  operators.add("QuantizeLinear", 10, {.infer = inferQuantize});
  operators.add("DequantizeLinear", 10, {.infer = inferDequantize});
  operators.add("DynamicQuantizeLinear", 11, {.infer = inferDynamicQuantize});
}

} // namespace mtc::onnx

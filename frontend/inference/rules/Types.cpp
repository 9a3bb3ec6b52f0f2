//===- Types.cpp - Operators that keep the shape: casts, identities, constants ----------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Converts by the source's arithmetic type, so that 64-bit integers and f64 round once.
std::optional<Tensor> castTo(const Tensor &source, Type element) {
  if (!Tensor::holds(element))
    return std::nullopt;
  auto type = RankedTensorType::get(source.shape(), element);
  return dispatchNumber(source.type().getElementType(), [&](auto kind) {
    return Tensor::fromValues<decltype(kind)>(type, source.compactValues<decltype(kind)>());
  });
}

LogicalResult inferCastTo(Inference &node, Type element) {
  if (element == node.elementType(0))
    return node.forward(0, 0);
  if (isa<ComplexType>(element) || isa<ComplexType>(node.elementType(0)))
    return node.failure("converts " + llvm::to_string(node.elementType(0)) + " to " +
                        llvm::to_string(element) + ", but complex numbers are not converted");
  if (failed(node.result(0, element, node.shape(0))))
    return failure();
  if (std::optional<Tensor> value = node.constant(0))
    node.fold(0, castTo(*value, element));
  return success();
}

LogicalResult inferCast(Inference &node) {
  Type element = node.elementTypeOf("to");
  if (node.failed())
    return failure();
  return inferCastTo(node, element);
}

/// The second operand gives its type only.
LogicalResult inferCastLike(Inference &node) { return inferCastTo(node, node.elementType(1)); }

LogicalResult inferIdentity(Inference &node) { return node.forward(0, 0); }

/// Whether this Dropout drops nothing. Training is told by operand 2 from version 12 on, the ratio
/// by operand 1 or, before, an attribute; version 7 drops only where the runtime trains, which the
/// converter decides.
bool dropsNothing(Inference &node) {
  if (node.version() < 12)
    return node.floating("ratio", 0.5) == 0;
  if (!node.has(2))
    return true;
  std::optional<Tensor> training = node.constant(2);
  if (training && !training->value<uint8_t>())
    return true;
  std::optional<Tensor> ratio = node.constant(1);
  return ratio && ratio->value<double>() == 0;
}

LogicalResult inferDropout(Inference &node) {
  if (!node.floatElements(0) || !node.hasOneElement(1) || !node.hasOneElement(2))
    return failure();
  bool identity = dropsNothing(node);
  auto mask = RankedTensorType::get(node.shape(0), IntegerType::get(node.context(), 1));
  if (failed(identity ? node.forward(0, 0) : node.result(0, node.type(0))) ||
      failed(node.result(1, mask)))
    return failure();
  if (identity)
    node.fold(1, Tensor::fromValues<uint8_t>(mask, uint8_t(1)));
  return success();
}

/// A Constant node, by whichever of its attributes is there.
LogicalResult inferConstant(Inference &node) {
  MLIRContext *context = node.context();
  Type i64 = IntegerType::get(context, 64), f32 = Float32Type::get(context);
  auto vector = [](size_t size, Type element) {
    return RankedTensorType::get({static_cast<int64_t>(size)}, element);
  };
  std::optional<Tensor> value;
  if (ElementsAttr elements = node.elements("value")) {
    value = Tensor::fromAttribute(elements);
  } else if (node.hasAttribute("value_int")) {
    value = Tensor::fromValues<int64_t>(RankedTensorType::get({}, i64), node.integer("value_int"));
  } else if (node.hasAttribute("value_float")) {
    value =
        Tensor::fromValues<double>(RankedTensorType::get({}, f32), node.floating("value_float"));
  } else if (node.hasAttribute("value_ints")) {
    value = Tensor::fromInts(context, node.integers("value_ints", {}));
  } else if (node.hasAttribute("value_floats")) {
    SmallVector<double> values = node.floats("value_floats", {});
    value = Tensor::fromValues<double>(vector(values.size(), f32), values);
  }
  if (!value)
    return node.failure("has no value that is a dense tensor of numbers or booleans");
  node.fold(0, value);
  return node.result(0, value->type());
}

/// Quantization: the result has the zero point's element type, or that of `output_dtype`, ui8
/// otherwise.
LogicalResult inferQuantize(Inference &node) {
  Type byDefault = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (node.has(2))
    byDefault = node.elementType(2);
  Type element = node.integer("output_dtype", 0) ? node.elementTypeOf("output_dtype") : byDefault;
  return node.result(0, element, node.shape(0));
}

/// The result has the scale's element type, or that of `output_dtype`.
LogicalResult inferDequantize(Inference &node) {
  Type element =
      node.integer("output_dtype", 0) ? node.elementTypeOf("output_dtype") : node.elementType(1);
  return node.result(0, element, node.shape(0));
}

/// y, y_scale, y_zero_point: ui8, f32 scalar, ui8 scalar.
LogicalResult inferDynamicQuantize(Inference &node) {
  Type byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  return success(succeeded(node.result(0, byte, node.shape(0))) &&
                 succeeded(node.result(1, Float32Type::get(node.context()), {})) &&
                 succeeded(node.result(2, byte, {})));
}

} // namespace

void registerTypeRules(Registry &registry) {
  registry.add("Cast", 6, inferCast);
  registry.add("CastLike", 15, inferCastLike);
  registry.add("Identity", 1, inferIdentity);
  registry.add("Dropout", 7, inferDropout);
  registry.add("Constant", 1, inferConstant);
  registry.add("QuantizeLinear", 10, inferQuantize);
  registry.add("DequantizeLinear", 10, inferDequantize);
  registry.add("DynamicQuantizeLinear", 11, inferDynamicQuantize);
}

} // namespace mtc::onnx

//===- Cast.cpp - Casts and identities --------------------------------------------------------===//

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Blocks.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Quantize.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Converts elements in the source's arithmetic type, so that 64-bit integers and f64 are rounded
/// only once.
std::optional<Tensor> castTo(const Tensor &source, Type element) {
  if (!Tensor::holds(element))
    return std::nullopt;
  auto type = RankedTensorType::get(source.shape(), element);
  return dispatchNumber(source.type().getElementType(), [&](auto kind) {
    return mapStored<decltype(kind)>(source, type, [](auto value) { return value; });
  });
}

LogicalResult inferCastTo(Inference &node, Type element) {
  if (element == node.elementType(0))
    return node.forward(0, 0);
  if (isa<ComplexType>(element) || isa<ComplexType>(node.elementType(0)))
    return node.failure("casts " + llvm::to_string(node.elementType(0)) + " to " +
                        llvm::to_string(element) + "; complex types are not supported");
  if (failed(node.result(0, element, node.shape(0))))
    return failure();
  if (std::optional<Tensor> value = node.storedConstant(0))
    node.fold(0, castTo(*value, element));
  return success();
}

LogicalResult inferCast(Inference &node) {
  Type element = node.elementTypeOf("to");
  if (node.failed())
    return failure();
  return inferCastTo(node, element);
}

/// Only the type of the second operand is used.
LogicalResult inferCastLike(Inference &node) { return inferCastTo(node, node.elementType(1)); }

/// Discards the upper bits of integers of 8 bits, as a conversion to 2 or 4 bits does.
Value wrapped(TensorBuilder &b, Value x, Type element) {
  int64_t bits = element.getIntOrFloatBitWidth();
  Value low = b.logicalAnd(x, b.splat(x, static_cast<double>((1 << bits) - 1)));
  return element.isUnsignedInteger() ? low : signExtend(b, low, bits);
}

/// Casts to the inferred element type. mtc's cast rounds as the standard specifies. By default,
/// casts to 8-bit floats saturate.
LogicalResult convertCast(Conversion &node) {
  Type element = node.resultType().getElementType();
  bool saturates = node.flag("saturate", true);
  if (node.failed())
    return failure();
  if (saturates && isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return node.result(0, saturatingCast(node.b, node.value(0), element));
  if (isPacked(element))
    return node.result(
        0, wrapped(node.b, node.b.cast(node.value(0), storedElementType(element)), element));
  return node.result(0, node.b.cast(node.value(0), element));
}

/// Folds a constant, whose bytes are read as another element type of the same size.
LogicalResult inferBitCast(Inference &node) {
  Type element = node.elementTypeOf("to"), source = node.elementType(0);
  if (node.failed())
    return failure();
  if (!Tensor::holds(element) || !Tensor::holds(source) || isPacked(element) || isPacked(source) ||
      Tensor::elementSize(element) != Tensor::elementSize(source))
    return node.failure("reinterprets " + llvm::to_string(source) + " as " +
                        llvm::to_string(element) +
                        ", expected types of equal size of at least 8 "
                        "bits or booleans");
  std::optional<Tensor> value = node.constant(0);
  auto type = RankedTensorType::get(node.shape(0), element);
  std::optional<Tensor> result = value ? Tensor::allocate(type) : std::nullopt;
  if (!result)
    return node.needsConstant(0);
  ArrayRef<char> bytes = value->bytes();
  MutableArrayRef<char> out = result->mutableBytes();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = bytes[i % bytes.size()]; // A splat stores one element.
  if (element.isInteger(1))
    for (char &byte : out)
      byte = byte != 0;
  node.fold(0, result);
  return node.result(0, type);
}

bool isDetached(const NodeView &node) { return node.op()->hasAttr(detachedAttribute); }

/// Returns the name of the initializer that the node updates; null if there is none.
StringAttr updatedName(const NodeView &node) {
  return node.op()->getAttrOfType<StringAttr>(updateAttribute);
}

/// Returns the name of the setting whose value the node replaces; null if there is none.
StringAttr settingName(const NodeView &node) {
  return node.op()->getAttrOfType<StringAttr>(settingAttribute);
}

LogicalResult inferIdentity(Inference &node) {
  return isDetached(node) || updatedName(node) || settingName(node) ? node.result(0, node.type(0))
                                                                    : node.forward(0, 0);
}

/// Returns the number that a flag of the program sets. The operand is the number as compiled.
LogicalResult convertSetting(Conversion &node, StringAttr name) {
  std::optional<SmallVector<double>> value = node.constantFloats(0);
  if (name != labelSmoothingSetting.name || !value || value->size() != 1)
    return node.failure("metadata mtc.setting: expected " + labelSmoothingSetting.name +
                        " at a constant number, got '" + name.getValue() + "'");
  const Number number = node.program().readNumber(
      labelSmoothingSetting, "loss_" + llvm::to_string(llvm::format("%g", value->front())),
      value->front(), node.location());
  return node.result(0, broadcastLike(node.b, number, node.value(0)));
}

LogicalResult convertIdentity(Conversion &node) {
  if (StringAttr name = settingName(node))
    return convertSetting(node, name);
  if (StringAttr name = updatedName(node)) {
    FailureOr<Value> updated = node.program().updateNamedState(name, node.value(0));
    if (failed(updated))
      return node.failure("metadata mtc.update: expected the name of an initializer of type " +
                          llvm::to_string(node.type(0)) +
                          " that the metadata mtc.module lists with "
                          "'update', got '" +
                          name.getValue() + "'; export the module again with mtc.export");
    return node.result(0, *updated);
  }
  return node.result(0, isDetached(node) ? node.b.detach(node.value(0)) : node.value(0));
}

} // namespace

void addCastOperators(Operators &operators) {
  operators.add("Cast", 6, {.infer = inferCast, .convert = convertCast, .acceptsPacked = true});
  operators.add("CastLike", 15,
                {.infer = inferCastLike, .convert = convertCast, .acceptsPacked = true});
  operators.add("BitCast", 26, {.infer = inferBitCast});
  operators.add("Identity", 1,
                {.infer = inferIdentity, .convert = convertIdentity, .acceptsPacked = true});
}

} // namespace mtc::onnx

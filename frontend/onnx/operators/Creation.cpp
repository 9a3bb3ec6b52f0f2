//===- Creation.cpp - Tensor creation operators, which are always folded ----------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Folds a Constant node from the attribute that is present.
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
    return node.failure("has no value; expected a dense tensor of numbers or booleans");
  node.fold(0, value);
  return node.result(0, value->type());
}

/// Folds the sequence start, start + delta, … up to, but excluding, limit.
LogicalResult inferRange(Inference &node) {
  for (size_t i = 0; i < 3; ++i) {
    if (i > 0 && !node.sameElementType(0, i))
      return failure();
    if (node.type(i).getNumElements() != 1)
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", expected a scalar");
  }
  for (size_t i = 0; i < 3; ++i)
    if (!node.constant(i))
      return node.needsConstant(i);
  Type element = node.elementType(0);
  return dispatchNumber(element, [&](auto kind) -> LogicalResult {
    using T = decltype(kind);
    T start = node.tensor(0).value<T>(), limit = node.tensor(1).value<T>(),
      delta = node.tensor(2).value<T>();
    if (delta == 0 || delta != delta || start != start || limit != limit)
      return node.failure("has a delta of 0 or a NaN operand");
    double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                             static_cast<double>(delta));
    if (count > static_cast<double>(maxFoldedElements))
      return node.failure("would have more than " + Twine(maxFoldedElements) + " elements");
    std::vector<T> values(count > 0 ? static_cast<size_t>(count) : 0);
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        values[i] = start + static_cast<T>(i) * delta;
      else
        values[i] = static_cast<T>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(delta));
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
    if (Tensor::holds(element))
      node.fold(0, Tensor::fromValues<T>(type, values));
    return node.result(0, type);
  });
}

/// Folds a splat of attribute `value` (default: f32 0) with the shape in operand 0.
LogicalResult inferConstantOfShape(Inference &node) {
  ElementsAttr attribute = node.elements("value");
  if (!node.integerElements(0) || !node.hasRank(0, 1, 1) || node.failed())
    return failure();
  std::optional<Extents> shape = node.constantInts(0);
  if (!shape)
    return node.needsConstant(0);
  Type element = attribute ? attribute.getShapedType().getElementType()
                           : Type(Float32Type::get(node.context()));
  if (attribute && attribute.getShapedType().getNumElements() != 1)
    return node.failure("attribute value has " + Twine(attribute.getShapedType().getNumElements()) +
                        " elements, expected 1");
  if (failed(node.result(0, element, *shape)))
    return failure();
  auto type = RankedTensorType::get(*shape, element);
  if (!attribute)
    node.fold(0, Tensor::fromValues<double>(type, 0.0));
  else if (std::optional<Tensor> value = Tensor::fromAttribute(attribute))
    node.fold(0, value->withType(type));
  return success();
}

/// Folds a matrix of the operand's shape with ones on the k-th diagonal.
LogicalResult inferEyeLike(Inference &node) {
  Type element = node.elementTypeOf("dtype", node.elementType(0));
  int64_t k = node.integer("k", 0);
  if (!node.hasRank(0, 2, 2) || failed(node.result(0, element, node.shape(0))))
    return failure();
  auto type = RankedTensorType::get(node.shape(0), element);
  int64_t columns = node.dim(0, 1);
  if (!Tensor::holds(element) || type.getNumElements() > maxFoldedElements ||
      type.getNumElements() == 0)
    return success();
  std::vector<int64_t> values(type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values[i] = i % columns - i / columns == k;
  node.fold(0, Tensor::fromValues<int64_t>(type, values));
  return success();
}

} // namespace

void addCreationOperators(Operators &operators) {
  operators.add("Constant", 1, {.infer = inferConstant});
  operators.add("Range", 11, {.infer = inferRange});
  operators.add("ConstantOfShape", 9, {.infer = inferConstantOfShape});
  operators.add("EyeLike", 9, {.infer = inferEyeLike});
}

} // namespace mtc::onnx

//===- Broadcast.cpp - Variadic operators with broadcasting -----------------------------------===//

#include "frontend/onnx/operators/support/Broadcast.h"

using namespace mlir;

namespace mtc::onnx {

FailureOr<Extents> broadcastOperands(Inference &node) {
  Extents shape(node.shape(0));
  for (size_t i = 1; i < node.operandCount(); ++i) {
    std::optional<Extents> both = broadcastShapes(shape, node.shape(i));
    if (!both)
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", which does not broadcast with " + shapeText(shape));
    shape = *both;
  }
  return shape;
}

bool sameElementTypes(Inference &node) {
  for (size_t i = 1; i < node.operandCount(); ++i)
    if (!node.sameElementType(0, i))
      return false;
  return true;
}

LogicalResult inferArithmetic(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  return node.result(0, node.elementType(0), *shape);
}

Value combineOperands(Conversion &node,
                      llvm::function_ref<Value(TensorBuilder &b, Value x, Value y)> combine) {
  ArrayRef<int64_t> shape = node.resultShape();
  Value result = node.broadcastValue(0, shape);
  for (size_t i = 1; i < node.operandCount(); ++i)
    result = combine(node.b, result, node.broadcastValue(i, shape));
  return result;
}

} // namespace mtc::onnx

//===- Inference.cpp - Node view for type inference and constant folding ----------------------===//

#include "frontend/onnx/operators/support/Inference.h"

#include "frontend/onnx/dialect/Shapes.h"

using namespace mlir;

namespace mtc::onnx {

Inference::Inference(NodeOp op, ConstantLookup lookup)
    : NodeView(op, std::move(lookup)), types(resultCount()), values(resultCount()),
      forwards(resultCount()) {}

LogicalResult Inference::result(size_t i, RankedTensorType type) {
  if (failed())
    return mlir::failure();
  if (!isAddressable(type.getShape()))
    return failure("result " + Twine(i) + " would have shape " + shapeText(type.getShape()) +
                   ", more elements than memory can hold");
  if (wants(i))
    types[i] = type;
  return success();
}

LogicalResult Inference::result(size_t i, Type elementType, ArrayRef<int64_t> shape) {
  if (failed())
    return mlir::failure();
  for (int64_t extent : shape)
    if (extent < 0)
      return failure("result " + Twine(i) + " would have an extent of " + Twine(extent) +
                     ", expected at least 0");
  return result(i, RankedTensorType::get(shape, elementType));
}

LogicalResult Inference::forward(size_t i, size_t operand) {
  if (wants(i))
    forwards[i] = operand;
  return result(i, type(operand));
}

void Inference::fold(size_t i, std::optional<Tensor> value) {
  if (wants(i) && value)
    values[i] = value->simplified();
}

LogicalResult inferSame(Inference &node) { return node.result(0, node.type(0)); }

LogicalResult inferSameFloat(Inference &node) {
  return success(node.floatElements(0) && succeeded(inferSame(node)));
}

} // namespace mtc::onnx

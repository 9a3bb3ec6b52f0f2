//===- Patterns.cpp - Helpers for matching exporters' patterns --------------------------------===//

#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

NodeOp definedBy(Value value, StringRef opType) {
  auto node = value.getDefiningOp<NodeOp>();
  return node && node.isOperator(opType) ? node : NodeOp();
}

std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Tensor> tensor = Tensor::fromAttribute(constant.getValue(), type);
  if (!tensor || tensor->size() == 0)
    return std::nullopt;
  std::vector<double> elements = tensor->compactValues<double>();
  return llvm::all_equal(elements) ? std::optional(elements.front()) : std::nullopt;
}

Value otherOperand(NodeOp node, double constant) {
  if (node.getInputs().size() == 2)
    for (size_t i : {1, 0})
      if (splatOf(node.getInputs()[i]) == constant)
        return node.getInputs()[1 - i];
  return {};
}

ArrayRef<int64_t> inferredShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getShape() : ArrayRef<int64_t>();
}

void replaceNodes(PatternRewriter &rewriter, NodeOp last, NodeOp replacement,
                  ArrayRef<NodeOp> others) {
  rewriter.replaceOp(last, replacement);
  for (NodeOp other : others)
    if (other.use_empty())
      rewriter.eraseOp(other);
}

} // namespace mtc::onnx

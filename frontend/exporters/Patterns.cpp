//===- Patterns.cpp - Helpers for matching exporters' patterns --------------------------------===//

#include "frontend/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

NodeOp definedBy(Value value, StringRef opType) {
  auto node = value.getDefiningOp<NodeOp>();
  return node && node.isOperator(opType) ? node : NodeOp();
}

std::optional<double> splatOf(NodeOp node, size_t operand) {
  std::optional<SmallVector<double>> values = NodeView(node).constantFloats(operand);
  if (!values || values->empty() || !llvm::all_equal(*values))
    return std::nullopt;
  return values->front();
}

Value operandBesides(NodeOp node, double constant) {
  if (node.getInputs().size() == 2)
    for (size_t i : {1, 0})
      if (splatOf(node, i) == constant)
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

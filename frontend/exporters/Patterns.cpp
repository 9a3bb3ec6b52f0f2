//===- Patterns.cpp - Helpers for matching exporters' patterns --------------------------------===//

#include "frontend/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

NodeOp definedBy(Value value, StringRef opType) {
  auto node = value.getDefiningOp<NodeOp>();
  return node && node.isOperator(opType) ? node : NodeOp();
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

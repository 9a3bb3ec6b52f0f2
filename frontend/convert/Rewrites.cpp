//===- Rewrites.cpp - Forms of exporters, rewritten before conversion -------------------------===//

#include "frontend/convert/Rewrites.h"

using namespace mlir;

namespace mtc::onnx {

NodeOp definedBy(Value value, StringRef opType) {
  auto node = value.getDefiningOp<NodeOp>();
  bool matches = node && node.getDomain().value_or("").empty() && node.getOpType() == opType;
  return matches ? node : NodeOp();
}

void replaceNodes(NodeOp last, NodeOp replacement, ArrayRef<NodeOp> others) {
  last.replaceAllUsesWith(replacement);
  last.erase();
  for (NodeOp other : others)
    if (other.use_empty())
      other.erase();
}

} // namespace mtc::onnx

//===- Unrolled.h - Nodes that become operations for each of their steps ----------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_UNROLLED_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_UNROLLED_H

#include "frontend/dialect/Node.h"

namespace mtc::onnx {

/// Reports a node of more steps than a program of each compiles in reasonable time.
inline mlir::LogicalResult checkUnrolled(NodeView &node, int64_t steps) {
  constexpr int64_t most = 512;
  if (steps <= most)
    return mlir::success();
  return node.failure("has " + llvm::Twine(steps) + " steps, expected at most " +
                      llvm::Twine(most));
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_UNROLLED_H

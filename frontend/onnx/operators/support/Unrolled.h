//===- Unrolled.h - Limit for unrolled nodes --------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_UNROLLED_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_UNROLLED_H

#include "frontend/onnx/dialect/Node.h"
#include "ir/Mtc.h"

namespace mtc::onnx {

/// Fails with a diagnostic if a node has more steps than can be unrolled and compiled in reasonable
/// time.
inline mlir::LogicalResult checkUnrolled(NodeView &node, int64_t steps) {
  constexpr int64_t maximum = RecurrenceOp::maxDecomposedSteps;
  if (steps <= maximum)
    return mlir::success();
  return node.failure("has " + llvm::Twine(steps) + " steps, expected at most " +
                      llvm::Twine(maximum));
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_UNROLLED_H

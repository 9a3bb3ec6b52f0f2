//===- EinsumEquation.h - The equation of an Einsum node --------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_EINSUMEQUATION_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_EINSUMEQUATION_H

#include "frontend/dialect/Node.h"
#include "frontend/dialect/Shapes.h"

namespace mtc::onnx {

/// Labels are numbered from 0: those that an ellipsis stands for first, the equation's letters
/// after. An operand's axis may have extent 1 where `extents` says more (broadcast by an ellipsis),
/// and a label may stand twice in an operand (a diagonal). Labels that are not in the result are
/// summed over.
struct EinsumEquation {
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands; ///< Label of each axis of each operand.
  llvm::SmallVector<int64_t> result;                      ///< Label of each axis of the result.
  Extents extents;                                        ///< By label.
};

/// Reads attribute `equation` against the operands' shapes; failure, reported at the node, where
/// they do not fit. Without `->` the result has the ellipsis and then the letters that occur once,
/// in alphabetical order.
mlir::FailureOr<EinsumEquation> readEinsum(NodeView &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_EINSUMEQUATION_H

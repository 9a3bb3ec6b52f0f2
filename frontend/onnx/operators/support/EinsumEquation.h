//===- EinsumEquation.h - Equations of Einsum nodes -------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EINSUMEQUATION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EINSUMEQUATION_H

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Shapes.h"

namespace mtc::onnx {

/// A parsed equation. Labels are numbered from 0: the axes of the ellipsis first, then the letters
/// of the equation. An operand axis may have extent 1 where `extents` is larger (broadcast by the
/// ellipsis). A label that occurs twice in one operand selects the diagonal. Labels that are
/// missing in the result are summed over.
struct EinsumEquation {
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands; ///< Label of each axis of each operand.
  llvm::SmallVector<int64_t> result;                      ///< Label of each axis of the result.
  Extents extents;                                        ///< Extent of each label.
};

/// Parses attribute `equation` and matches it with the operand shapes; fails with a diagnostic at
/// the node if they do not match. Without `->`, the result has the axes of the ellipsis, followed
/// by the letters that occur once, in alphabetical order.
mlir::FailureOr<EinsumEquation> readEinsum(NodeView &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EINSUMEQUATION_H

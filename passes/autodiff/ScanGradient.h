//===- ScanGradient.h - Gradient of a scan ----------------------------------------------------===//

#ifndef MTC_PASSES_AUTODIFF_SCANGRADIENT_H
#define MTC_PASSES_AUTODIFF_SCANGRADIENT_H

#include "ir/Mtc.h"

namespace mtc {

/// Builds the gradient of a scan, itself a scan, at the insertion point. `cotangents` has one value
/// for each result, which may be null, and `needed` one entry for each operand. `gradients`
/// receives one value for each operand, or null.
///
/// The gradient's iterations run in the opposite order. They recompute the iteration from the
/// states before it. The original scan must therefore return these states: all uses of `scan` are
/// replaced by a scan that also stacks them. The caller erases `scan`. Fails with a diagnostic if
/// an operation of the body has no gradient.
mlir::LogicalResult differentiateScan(ScanOp scan, mlir::OpBuilder &builder,
                                      mlir::Location location,
                                      mlir::ArrayRef<mlir::Value> cotangents,
                                      mlir::ArrayRef<bool> needed,
                                      mlir::SmallVectorImpl<mlir::Value> &gradients);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_SCANGRADIENT_H

//===- Checkpoints.h - Checkpoint selection for sqrt(n) recomputation -------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_CHECKPOINTS_H
#define MTC_PASSES_RECOMPUTE_CHECKPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// The values to recompute, and the end of the forward pass.
struct Checkpoints {
  mlir::SmallVector<mlir::OpResult, 0> recomputed; ///< in the order of their computation
  mlir::Operation *forwardEnd = nullptr;           ///< later users belong to the backward pass
  /// Checkpoint values that have no users in the backward pass but from which segments are
  /// recomputed.
  mlir::SmallVector<mlir::OpResult, 0> kept;
};

/// Selects every sqrt(n)-th of the n operations on which all later operations of the forward pass
/// depend, such as the ends of layers, as checkpoints. The values of checkpoints, and all values
/// after the last checkpoint, are saved for the backward pass. All other values are recomputed, one
/// segment at a time (Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory Cost",
/// 2016). Returns nothing to recompute for a function that is not differentiated or that has fewer
/// than four such operations.
Checkpoints findCheckpoints(mlir::func::FuncOp function);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_CHECKPOINTS_H

//===- Checkpoints.h - Segments of the forward pass that are computed again -------------------===//

#ifndef MTC_PASSES_RECOMPUTE_CHECKPOINTS_H
#define MTC_PASSES_RECOMPUTE_CHECKPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Which values of the forward pass are computed again, and where that pass ends.
struct Checkpoints {
  mlir::SmallVector<mlir::OpResult, 0> recomputed; ///< in the order in which they are computed
  mlir::Operation *forwardEnd = nullptr;           ///< readers behind it are the backward pass's
  mlir::SmallVector<mlir::OpResult, 0>
      kept; ///< segments start from them, and nothing else reads them then
};

/// Of n operations that all of the forward pass goes through, such as the ends of layers, every
/// sqrt(n)-th is a checkpoint: its values are kept for the backward pass, as are those behind the
/// last one, and all others are computed again, a segment at a time (Chen, Xu, Zhang, Guestrin,
/// "Training Deep Nets with Sublinear Memory Cost", 2016). Nothing is computed again in a function
/// that nothing differentiates, or where there are fewer than four such operations.
Checkpoints findCheckpoints(mlir::func::FuncOp function);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_CHECKPOINTS_H

//===- TransferCost.h - Time of copies and of transfers between ranks -------------------------===//

#ifndef MTC_PASSES_COST_TRANSFERCOST_H
#define MTC_PASSES_COST_TRANSFERCOST_H

#include "passes/cost/StepCost.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// The cost of copies between memory spaces and of transfers between ranks in a training step.
struct TransferCost {
  int64_t bytes = 0;  ///< Bytes copied between memory spaces.
  double seconds = 0; ///< Sum over all copies between memory spaces, without overlap.
  double onHost = 0;  ///< Sum over all asynchronous kernels on the host.
  /// Increase of the step time due to copies, transfers and kernels on the host.
  double exposed = 0;
  /// The parts of `exposed` in which a rank waits for transfers of a kind of group.
  llvm::MapVector<llvm::StringRef, double> exposedOfGroups;
};

/// Simulates `micro_step` and `update` of an allocated training step: operations run one after
/// another, and asynchronous copies, transfers and kernels on the host start when their
/// dependencies have completed. `cost` must belong to the same module.
TransferCost estimateTransfers(mlir::ModuleOp placed, StepCost &cost);
/// Simulates one function once.
TransferCost estimateTransfers(StepOp step, StepCost &cost);

} // namespace mtc

#endif // MTC_PASSES_COST_TRANSFERCOST_H

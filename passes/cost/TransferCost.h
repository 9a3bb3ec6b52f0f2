//===- TransferCost.h - The time of copies that overlap a step --------------------------------===//

#ifndef MTC_PASSES_COST_TRANSFERCOST_H
#define MTC_PASSES_COST_TRANSFERCOST_H

#include "passes/cost/StepCost.h"

namespace mtc {

/// What copies between spaces take in a training step.
struct TransferCost {
  int64_t bytes = 0;  ///< that they copy
  double seconds = 0; ///< of all of them, one after another
  double exposed = 0; ///< by which the step is longer than without them
};

/// Follows the functions of a placed training step, `micro_step` and `update`: operations run one
/// after another, copies on streams as soon as what they wait for has ended. `cost` is of the same
/// module.
TransferCost estimateTransfers(mlir::ModuleOp placed, StepCost &cost);

} // namespace mtc

#endif // MTC_PASSES_COST_TRANSFERCOST_H

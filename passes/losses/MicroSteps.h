//===- MicroSteps.h - The loss of a step that is one of several before an update --------------===//

#ifndef MTC_PASSES_LOSSES_MICROSTEPS_H
#define MTC_PASSES_LOSSES_MICROSTEPS_H

#include "passes/losses/Loss.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Builds, at the end of `@micro_step`, its part of an update's loss, which the gradients are of,
/// and adds it to what the micro-steps before have: their sum, as a part of all the targets that
/// the update's micro-steps may have. Says in the module's program what remains to be multiplied.
/// All parts are of one constant, so that none depends on a micro-step without targets.
mlir::Value buildPartOfLoss(TensorBuilder &b, const LossTerms &terms, int64_t microSteps);
/// The same of a scalar that is a loss by itself: the update's is the mean.
mlir::Value buildPartOfLoss(TensorBuilder &b, mlir::Value loss, int64_t microSteps);

/// Numbers the random bits of `@micro_step` by the micro-steps of all updates, so that each draws
/// others.
void numberRandomBits(mlir::func::FuncOp microStep, int64_t microSteps);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_MICROSTEPS_H

//===- MicroSteps.h - Loss and random bits of micro-steps -------------------------------------===//

#ifndef MTC_PASSES_LOSSES_MICROSTEPS_H
#define MTC_PASSES_LOSSES_MICROSTEPS_H

#include "passes/losses/Loss.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Builds, at the end of `@micro_step`, its share of the update's loss, which autodiff
/// differentiates. The share is the sum over its targets, divided by the number of targets of all
/// micro-steps of the update. Adds the share to `@mtc.loss_sum`, the weights of the targets to
/// `@mtc.target_count`, and records in the module's program the number of micro-steps and targets.
/// The divisor is constant, so that micro-steps without counted targets need no special case; the
/// update replaces it by the sum of the weights. In a program with several shapes the number of
/// targets depends on the shape, so the divisor is the number of micro-steps, and all targets are
/// counted.
mlir::Value buildPartOfLoss(TensorBuilder &b, const LossTerms &terms, int64_t microSteps,
                            bool hasShapes);
/// Builds the share of a scalar loss: the update's loss is the mean over its micro-steps.
mlir::Value buildPartOfLoss(TensorBuilder &b, mlir::Value loss, int64_t microSteps);

/// Numbers the random bits of `@micro_step` by micro-step over all updates, so that each micro-step
/// draws different bits.
void numberRandomBits(mlir::func::FuncOp microStep, int64_t microSteps);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_MICROSTEPS_H

//===- GradientScaling.h - What happens to gradients before an optimizer reads them -----------===//

#ifndef MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H
#define MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H

#include "passes/optimizer/LossScale.h"
#include "passes/optimizer/OptimizerOptions.h"

namespace mtc {

/// Gradients divided by the loss scale and, where they are sums over micro-steps, by the part of
/// the targets that counted, then clipped by value, then by norm. What divides them and what clips
/// their norm is one factor.
class GradientScaling {
public:
  using Value = mlir::Value;

  /// The first two outlive the object; `lossScale` is null where the loss is not scaled,
  /// `accumulation` where an update has one micro-step.
  GradientScaling(const OptimizerOptions &options, const LossScale *lossScale,
                  AccumulationAttr accumulation)
      : options(options), lossScale(lossScale), accumulation(accumulation) {}

  /// Computes the norm of all gradients, if it is asked for, and the factor.
  void build(TensorBuilder &b, llvm::ArrayRef<VariableOp> gradients);
  /// The norm before it is clipped, a scalar f64; null if it is not asked for.
  Value getNorm() const { return norm; }
  /// A gradient as an optimizer reads it.
  Value apply(TensorBuilder &b, Value gradient) const;

private:
  void findScale(TensorBuilder &b);
  Value limit(TensorBuilder &b, Value gradient) const;
  Value buildNorm(TensorBuilder &b, llvm::ArrayRef<VariableOp> gradients) const;

  const OptimizerOptions &options;
  const LossScale *lossScale;
  AccumulationAttr accumulation;
  /// What gradients are multiplied by as they are given, scalars f64; null where it is 1.
  Value scale, inverse;
  Value norm, factor; ///< The factor is null where it is 1.
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H

//===- LossScale.h - Loss scaling in the parameter update -------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_LOSSSCALE_H
#define MTC_PASSES_OPTIMIZER_LOSSSCALE_H

#include "passes/optimizer/UpdatedGradient.h"

namespace mtc {

/// The state of `mtc-scale-loss` in the update function: the scale of the gradients, whether the
/// update is skipped, and the next scale. Scalars are tensors of rank 0, and f64 unless noted
/// otherwise.
class LossScale {
public:
  using Value = mlir::Value;

  /// Emits reads of the loss-scaling variables.
  LossScale(TensorBuilder &b, LossScalingAttr attribute);

  /// Return the factor by which the loss of this step was multiplied, and its inverse.
  Value getScale() const { return scale; }
  Value getInverse() const { return inverse; }
  /// Returns the number of updates that were not skipped, including this one.
  Value getStep() const { return step; }
  /// Returns whether the update is skipped, as i1.
  Value getSkipped() const { return skipped; }

  /// Emits the check that all gradient elements are finite. Must be called before `getSkipped`,
  /// `keep` and `write`, and after the code that reduces the gradients for their norm, so that one
  /// kernel does both. Elements whose squares overflow still count as finite.
  /// `ranks` is null if the program has no ranks.
  void check(TensorBuilder &b, llvm::ArrayRef<UpdatedGradient> gradients, RanksAttr ranks,
             Value norm);
  /// Returns the new value of a variable: `changed`, or bit-identical `old` if the update is
  /// skipped.
  Value keep(TensorBuilder &b, Value changed, Value old) const;
  /// Emits writes of the loss-scaling variables.
  void write(TensorBuilder &b) const;

private:
  LossScalingAttr attribute;
  Value oldScale, finiteUpdates, updateCount; ///< Values of the variables before the update.
  Value scale, inverse, step, skipped;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_LOSSSCALE_H

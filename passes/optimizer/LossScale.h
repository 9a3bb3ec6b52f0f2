//===- LossScale.h - The update of a program that scales its loss -----------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_LOSSSCALE_H
#define MTC_PASSES_OPTIMIZER_LOSSSCALE_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// The state of `mtc-scale-loss` in the update: what gradients are divided by, whether the step
/// counts, and what the scale becomes. Scalars are tensors of rank 0, and f64 unless that is said.
class LossScale {
public:
  using Value = mlir::Value;

  /// Reads the variables.
  LossScale(TensorBuilder &b, LossScalingAttr attribute);

  /// What the loss of this step was multiplied by, and its inverse.
  Value getScale() const { return scale; }
  Value getInverse() const { return inverse; }
  /// How many updates were made, this one included.
  Value getStep() const { return step; }
  /// Whether the update was skipped, i1.
  Value getSkipped() const { return skipped; }

  /// Reads all gradients, as they are; to be called before what follows, and behind what reads them
  /// in rows, so that one kernel does both. Elements whose squares overflow are finite.
  void check(TensorBuilder &b, llvm::ArrayRef<VariableOp> gradients);
  /// What a variable becomes: a new value, or its old one, to the bit, where the update is skipped.
  Value keep(TensorBuilder &b, Value changed, Value old) const;
  /// Writes the variables.
  void write(TensorBuilder &b) const;

private:
  LossScalingAttr attribute;
  Value oldScale, finiteUpdates, updateCount; ///< As the variables hold them.
  Value scale, inverse, step, skipped;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_LOSSSCALE_H

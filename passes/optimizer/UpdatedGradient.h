//===- UpdatedGradient.h - Gradients that an update reads -------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_UPDATEDGRADIENT_H
#define MTC_PASSES_OPTIMIZER_UPDATEDGRADIENT_H

#include "passes/variables/VariableView.h"

namespace mtc {

/// The gradient that the update reads: the gradient of this rank, or a piece of it.
struct UpdatedGradient {
  VariableView view;
  /// Number of elements of the gradient if the view is a piece; 0 otherwise.
  int64_t dividedElements = 0;
  /// How the gradient is divided along an axis; null if it is not.
  AxisSplitAttr split = {};
  /// The parts of a gradient that its norm adds one after the other; null: one part.
  AxisSplitAttr chunks = {};
  /// The gradient of all ranks.
  mlir::RankedTensorType whole = {};

  bool isDivided() const { return dividedElements != 0; }
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_UPDATEDGRADIENT_H

//===- LossPlan.h - Choice of output, labels and lengths of the loss --------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSSPLAN_H
#define MTC_PASSES_LOSSES_LOSSPLAN_H

#include "passes/losses/Loss.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Properties of the loss that @micro_step and @evaluate share.
struct LossPlan {
  const Loss *loss = nullptr; ///< Null for the graph's own output.
  LossParameters parameters;
  unsigned output = 0;
  mlir::RankedTensorType outputType;
  std::string labels;
  mlir::RankedTensorType labelType; ///< Null if the loss has no labels.
  LabelLayout layout;
  std::string inputLengths;           ///< Empty if all samples have all frames.
  mlir::RankedTensorType lengthsType; ///< Type of an input that the loss adds; null otherwise.
  /// Type of the weights of samples, an input that the loss adds; null if all weights are 1.
  mlir::RankedTensorType lossWeights;
  bool takesLogits = false; ///< The output is an activation; the loss reads its logits.
  std::string shiftedFrom;  ///< Input of token ids from which the labels are derived.
  int64_t microSteps = 1;
  bool hasShapes = false; ///< the program has several shapes
};

/// Completes the options from the outputs and inputs of `forward`. Emits a diagnostic if the
/// choices do not fit the graph, and remarks about choices that the user did not make.
mlir::FailureOr<LossPlan> planLoss(mlir::func::FuncOp forward, const LossOptions &options);

/// Returns the element type in which the loss of an output is computed: f64 for f64, otherwise f32.
mlir::Type lossElement(mlir::Type element);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSSPLAN_H

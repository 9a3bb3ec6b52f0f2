//===- LossChoice.h - Which loss a graph is trained for ---------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSSCHOICE_H
#define MTC_PASSES_LOSSES_LOSSCHOICE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace mtc {

/// A loss by name, and the output that it reads.
struct LossChoice {
  std::string loss;
  unsigned output = 0;
};

/// Completes what the user gave (`loss` and `output` may be empty) from the outputs of `forward`:
///   - a named loss reads the named output, or the first floating-point one (`output`: the only
///   scalar one);
///   - without a name, a scalar gives `output`; a sigmoid `bce-with-logits`; [batch, classes]
///     `cross-entropy`; [batch, tokens, vocabulary] with an integer input [batch, tokens]
///     `causal-lm`.
/// On failure `question` is one line that says what is open and which flag answers it.
mlir::FailureOr<LossChoice> chooseLoss(mlir::func::FuncOp forward, llvm::StringRef loss,
                                       llvm::StringRef output, std::string &question);

/// The input of token ids that the labels of a causal language model follow from: the one integer
/// input of this shape besides the labels, or the one named `input_ids` among several; -1 if there
/// is none.
int64_t findTokenInput(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> shape,
                       llvm::StringRef labels);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSSCHOICE_H

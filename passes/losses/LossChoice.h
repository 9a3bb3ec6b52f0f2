//===- LossChoice.h - Inference of the loss from a graph --------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSSCHOICE_H
#define MTC_PASSES_LOSSES_LOSSCHOICE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace mtc {

/// The name of a loss and the output that it reads.
struct LossChoice {
  std::string loss;
  unsigned output = 0;
};

/// Completes the user's choice (`loss` and `output` may be empty) from the outputs of `forward`:
///   - a named loss reads the named output, or the first floating-point one (`output`: the only
///   scalar one);
///   - without a name, a scalar selects `output`; a sigmoid `bce-with-logits`; [batch, classes]
///     `cross-entropy`; [batch, tokens, vocabulary] with an integer input [batch, tokens]
///     `causal-lm`.
/// On failure, `question` is a one-line description of the missing choice and its flag.
mlir::FailureOr<LossChoice> chooseLoss(mlir::func::FuncOp forward, llvm::StringRef loss,
                                       llvm::StringRef output, std::string &question);

/// Returns the input of token ids from which the labels of a causal language model are derived: the
/// only integer input of this shape apart from the labels and `attention_mask`, or the one named
/// `input_ids` among several; -1 if there is none.
int64_t findTokenInput(mlir::func::FuncOp forward, llvm::ArrayRef<int64_t> shape,
                       llvm::StringRef labels);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSSCHOICE_H

//===- ReservedNames.h - Names that a program's own parts have --------------------------------===//

#ifndef MTC_IR_RESERVEDNAMES_H
#define MTC_IR_RESERVEDNAMES_H

#include "ir/Mtc.h"

namespace mtc {

/// The functions of a module, later the program's steps: before the loss is attached there is
/// @forward alone.
inline constexpr llvm::StringLiteral forwardName = "forward", microStepName = "micro_step",
                                     updateName = "update", gradientsName = "gradients",
                                     evaluateName = "evaluate", outputsName = "outputs";

/// Results beside the model's outputs: the loss, and what each row of the batch contributes to it.
inline constexpr llvm::StringLiteral lossName = "mtc.loss", rowLossName = "mtc.row_loss",
                                     rowWeightName = "mtc.row_weight",
                                     rowCorrectName = "mtc.row_correct";
/// The result of @update that is the norm of all gradients, if it is asked for.
inline constexpr llvm::StringLiteral gradientNormName = "mtc.gradient_norm";

/// What the loss is multiplied by where a program scales it: a variable, and the result of @update
/// that is the scale which the step used. Another result says whether the update was skipped.
inline constexpr llvm::StringLiteral lossScaleName = "mtc.loss_scale",
                                     updateSkippedName = "mtc.update_skipped";
/// Variables of loss scaling that count updates: those since the scale changed or one was skipped,
/// and all that were made.
inline constexpr llvm::StringLiteral finiteUpdatesName = "mtc.finite_updates",
                                     updateCountName = "mtc.update_count";

/// Variables of a program that accumulates: the sum of the micro-steps' parts of the loss, and of
/// how many targets they had, where fewer may count than there are. Scalars of f64.
inline constexpr llvm::StringLiteral lossSumName = "mtc.loss_sum",
                                     targetCountName = "mtc.target_count";

/// The symbol of the variable that the runtime writes a scalar to.
std::string scalarName(RuntimeScalar scalar);

/// Whether functions, kernels or scalars of a program's module have the name, so that no variable
/// of the model's can.
bool isReservedSymbol(llvm::StringRef name);

/// Whether `evaluate` has a result of the name beside the model's outputs.
bool isReservedResult(llvm::StringRef name);

} // namespace mtc

#endif // MTC_IR_RESERVEDNAMES_H

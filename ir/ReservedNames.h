//===- ReservedNames.h - Reserved symbols and result names of programs ------------------------===//

#ifndef MTC_IR_RESERVEDNAMES_H
#define MTC_IR_RESERVEDNAMES_H

#include "ir/Mtc.h"

namespace mtc {

/// Functions of a module, which become the program's steps. Before the loss is attached, @forward
/// is the only function.
inline constexpr llvm::StringLiteral forwardName = "forward", microStepName = "micro_step",
                                     updateName = "update", gradientsName = "gradients",
                                     evaluateName = "evaluate", outputsName = "outputs";

/// Of a pipeline stage: the suffix of the function with the backward part of a micro-step, and the
/// function that exchanges the loss after the last micro-step.
inline constexpr llvm::StringLiteral backwardSuffix = ".backward", agreementName = "agreement";

/// Returns the name of a function for a shape of the program: `name` for the first shape, `name.N`
/// for shape N. @update is the same for all shapes.
std::string nameForShape(llvm::StringRef name, unsigned shape);
/// Returns the name of a function's first shape.
llvm::StringRef withoutShape(llvm::StringRef name);
/// Returns whether a function is @micro_step of the program's first shape or, in a pipeline stage,
/// a part of it.
bool isMicroStep(llvm::StringRef name);
/// Returns the number of the shape in a name of `nameForShape`.
unsigned shapeOfName(llvm::StringRef name);

/// The result in addition to the model's outputs: the loss. @evaluate also has results with names
/// of runtime/abi/row_values.h.
inline constexpr llvm::StringLiteral lossName = "mtc.loss";
/// The result of @update for the norm of all gradients, which is optional.
inline constexpr llvm::StringLiteral gradientNormName = "mtc.gradient_norm";

/// Loss scaling: the name of the variable with the loss scale, and of the result of @update with
/// the scale that the step used; and the result that reports whether the update was skipped.
inline constexpr llvm::StringLiteral lossScaleName = "mtc.loss_scale",
                                     updateSkippedName = "mtc.update_skipped";
/// Variables of loss scaling that count updates: consecutive updates since the scale changed or an
/// update was skipped, and all updates that were applied.
inline constexpr llvm::StringLiteral finiteUpdatesName = "mtc.finite_updates",
                                     updateCountName = "mtc.update_count";

/// f64 variables of a program with gradient accumulation: the sum of the micro-steps' parts of the
/// loss, and the number of targets that count, if not all targets do.
inline constexpr llvm::StringLiteral lossSumName = "mtc.loss_sum",
                                     targetCountName = "mtc.target_count";

/// Suffix of the second gradient of a parameter in programs with pipeline stages, which the update
/// adds to the first: that of lookups of rows.
inline constexpr llvm::StringLiteral lookupsSuffix = ".lookups";

/// Prefix of the variables of a program with several ranks that hold the sums of gradients over
/// ranks and micro-steps: one piece of a bucket each.
inline constexpr llvm::StringLiteral gradientSumPrefix = "mtc.gradient_sum.";

/// Prefix of the slots of a pipeline stage.
inline constexpr llvm::StringLiteral slotPrefix = "mtc.slot.";

/// Returns the symbol of the variable for a scalar that the runtime writes.
std::string scalarName(RuntimeScalar scalar);

/// Returns the symbol of the variable for a setting.
std::string settingName(llvm::StringRef scope, llvm::StringRef name);

/// Returns whether the name is reserved for functions, kernels or scalars of a program's module,
/// and not available for a variable of the model.
bool isReservedSymbol(llvm::StringRef name);

/// Returns whether the name is reserved for a result of `evaluate` that is not a model output.
bool isReservedResult(llvm::StringRef name);

} // namespace mtc

#endif // MTC_IR_RESERVEDNAMES_H

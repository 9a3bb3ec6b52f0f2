//===- Accumulation.h - Gradients that are added to variables ---------------------------------===//

#ifndef MTC_PASSES_AUTODIFF_ACCUMULATION_H
#define MTC_PASSES_AUTODIFF_ACCUMULATION_H

#include "ir/Mtc.h"

namespace mtc {

/// The sum of at least one value, built where the last of them is known.
mlir::Value sumWhereKnown(llvm::ArrayRef<mlir::Value> values, mlir::Location location);

/// Adds gradients, of which some may be null, to a variable. Terms that a library computes, and
/// sums by index, are added one by one where they are known, so that each can be computed where the
/// variable lies; the others are one sum.
void accumulate(llvm::ArrayRef<mlir::Value> gradients, VariableOp variable,
                mlir::Location location);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_ACCUMULATION_H

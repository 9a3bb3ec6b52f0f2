//===- Accumulation.h - Accumulation of gradients over micro-steps ----------------------------===//

#ifndef MTC_PASSES_AUTODIFF_ACCUMULATION_H
#define MTC_PASSES_AUTODIFF_ACCUMULATION_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns the sum of one or more values, built right after the last of them is defined.
mlir::Value sumWhereKnown(llvm::ArrayRef<mlir::Value> values, mlir::Location location);

/// Adds gradients, some of which may be null, to a variable. Terms from library calls and
/// scatter-adds are added one by one where they are defined, so that each can be computed in place
/// in the variable's storage; all other terms are added as one sum.
void accumulate(llvm::ArrayRef<mlir::Value> gradients, VariableOp variable,
                mlir::Location location);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_ACCUMULATION_H

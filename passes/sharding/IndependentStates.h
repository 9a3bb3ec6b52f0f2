//===- IndependentStates.h - State that training updates without data, on several ranks -------===//

#ifndef MTC_PASSES_SHARDING_INDEPENDENTSTATES_H
#define MTC_PASSES_SHARDING_INDEPENDENTSTATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// Makes each rank compute the updates of all ranks for states whose updates read only variables,
/// such as the vectors of a power iteration, if a gradient or the loss reads such a state. Returns
/// these states. Their updates need no exchange. `ranks` is the number of ranks with different
/// samples.
llvm::StringSet<> repeatIndependentUpdates(mlir::func::FuncOp microStep, int64_t ranks);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_INDEPENDENTSTATES_H

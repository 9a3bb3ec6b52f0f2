//===- RepeatKeyHeads.h - Keys of attention for more ranks than they have heads ---------------===//

#ifndef MTC_PASSES_SPLITTING_REPEATKEYHEADS_H
#define MTC_PASSES_SPLITTING_REPEATKEYHEADS_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Repeats the heads of keys and values of attention whose number `parts` does not divide, if it
/// divides that of queries: several ranks then have the same head. The gradients are the sums of
/// those of the repetitions.
void repeatKeyHeads(mlir::ModuleOp module, int64_t parts);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_REPEATKEYHEADS_H

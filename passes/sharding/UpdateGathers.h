//===- UpdateGathers.h - Gathers of updated parameters ----------------------------------------===//

#ifndef MTC_PASSES_SHARDING_UPDATEGATHERS_H
#define MTC_PASSES_SHARDING_UPDATEGATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Joins successive gathers of variables that the update writes, up to `bucketBytes`. Buckets are
/// used because a transfer takes a latency for each other rank, and because the next bucket can be
/// computed during the transfer of one.
void joinUpdateGathers(mlir::func::FuncOp update, int64_t bucketBytes);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_UPDATEGATHERS_H

//===- UpdateGathers.h - Gathers of updated parameters ----------------------------------------===//

#ifndef MTC_PASSES_SHARDING_UPDATEGATHERS_H
#define MTC_PASSES_SHARDING_UPDATEGATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Joins successive gathers of variables that the update writes, up to `bucketBytes`. A transfer
/// takes a latency for each other rank, and the next bucket is computed while one travels.
void joinUpdateGathers(mlir::func::FuncOp update, int64_t bucketBytes);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_UPDATEGATHERS_H

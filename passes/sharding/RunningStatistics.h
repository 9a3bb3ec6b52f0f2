//===- RunningStatistics.h - State that micro-batches update, on several ranks ----------------===//

#ifndef MTC_PASSES_SHARDING_RUNNINGSTATISTICS_H
#define MTC_PASSES_SHARDING_RUNNINGSTATISTICS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Makes each rank update the state of `microStep`, such as running statistics, from the
/// micro-batches of all ranks of its data group, in their order. Ranks gather the values from which
/// the state is updated, such as the mean and the variance of their own micro-batch. Emits an error
/// if other values depend on updated state, because they would depend on the micro-batches of lower
/// ranks, unless the updates read only variables (IndependentStates.h).
mlir::LogicalResult exchangeRunningStatistics(mlir::func::FuncOp microStep, RankGroup group);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_RUNNINGSTATISTICS_H

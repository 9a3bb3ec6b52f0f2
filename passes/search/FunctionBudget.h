//===- FunctionBudget.h - Memory budget of a function -----------------------------------------===//

#ifndef MTC_PASSES_SEARCH_FUNCTIONBUDGET_H
#define MTC_PASSES_SEARCH_FUNCTIONBUDGET_H

#include "passes/cost/OperationTimes.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"

#include <chrono>

namespace mtc {

using Deadline = std::chrono::steady_clock::time_point;

/// Returns the deadline after the given seconds from now, or no deadline.
Deadline deadlineIn(std::optional<double> seconds);

/// A function and the bytes of the arena that it may use. All members refer to the state at the
/// last query of the memory plan.
struct FunctionBudget {
  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  int64_t bytes;
  Deadline deadline = Deadline::max();

  /// Returns whether the search must end with the current state. Long loops query this in each
  /// iteration.
  bool isTimeUp() const {
    return deadline != Deadline::max() && std::chrono::steady_clock::now() >= deadline;
  }
  /// Returns the peak of the arena while the function runs.
  int64_t liveBytes() const {
    return analysis.getFixedBytes() + function.getLive()[function.getPeakTime()];
  }
  OrderScore score() const;
  /// Returns the estimated seconds of one run of the function, including waits for copies.
  double getSeconds(OperationTimes &times) const;
  /// Returns how often an update runs a function; 0 if training does not run it.
  static int64_t countRuns(mlir::func::FuncOp function);
  /// Returns the memory space that the target offloads to.
  MemorySpace getOffloadSpace() const;
  /// Returns whether a change that frees `bytes` is worthwhile: at least 1/4096 of the arena.
  bool isWorthwhile(int64_t bytes) const { return bytes * 4096 >= liveBytes(); }
  /// Returns the first operation with the maximum number of live bytes.
  mlir::Operation *getPeakOperation() const {
    return function.getOrder()[function.getPeakTime()]->op;
  }
  /// Returns the bytes by which the function's live bytes or, if these fit, its layout exceed the
  /// budget; at most 0 if the budget is met. Other functions are not considered. Fails with a
  /// diagnostic if there is no memory plan.
  mlir::FailureOr<int64_t> findExcess() const;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_FUNCTIONBUDGET_H

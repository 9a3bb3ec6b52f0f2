//===- Ladder.h - Greedy reduction of peak memory ---------------------------------------------===//

#ifndef MTC_PASSES_SEARCH_LADDER_H
#define MTC_PASSES_SEARCH_LADDER_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/Goal.h"
#include "passes/search/PeakReducer.h"

namespace mtc {

/// Applies reducers to a function until it meets its budget. Each iteration applies the reducer
/// that frees the bytes at the peak in the shortest time. A smaller budget continues the same
/// sequence of changes, so that the peak falls and the time grows monotonically with a decreasing
/// budget.
class Ladder {
public:
  Ladder(const Goal &goal, OperationTimes &times, llvm::ArrayRef<PeakReducer *> reducers)
      : goal(goal), times(times), reducers(reducers) {}

  /// Applies reducers until the budget is met, no reducer lowers the peak, the step time
  /// reaches `mostTime` seconds, memory planning exceeds `mostEffort`, or the time has grown by
  /// half while less than 1/32 of the arena was freed. Fails with a diagnostic if there is no
  /// memory plan.
  mlir::LogicalResult climb(double mostTime, int64_t mostEffort);

private:
  struct Rung {
    PeakReducer *reducer;
    double time;
  };
  mlir::FailureOr<std::optional<Rung>> findCheapest(int64_t needed);

  const Goal &goal;
  OperationTimes &times;
  mlir::SmallVector<PeakReducer *> reducers;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_LADDER_H

//===- GreedySearch.h - Greedy reduction of peak memory ---------------------------------------===//

#ifndef MTC_PASSES_SEARCH_GREEDYSEARCH_H
#define MTC_PASSES_SEARCH_GREEDYSEARCH_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

namespace mtc {

/// Reduces the peak of a function until it meets its budget. Each step applies the candidate that
/// frees the bytes at the peak in the shortest time. A smaller budget continues the same sequence
/// of steps, so that the peak falls and the time grows monotonically with a decreasing budget.
class GreedySearch {
public:
  GreedySearch(const FunctionBudget &budget, OperationTimes &times,
               llvm::ArrayRef<PeakReducer *> reducers)
      : budget(budget), times(times), reducers(reducers) {}

  /// Applies candidates until the budget is met, no candidate lowers the peak, the step time
  /// reaches `maxTime` seconds, memory planning exceeds `maxEffort`, or the time has grown by
  /// half while less than 1/32 of the arena was freed. Fails with a diagnostic if there is no
  /// memory plan.
  mlir::LogicalResult run(double maxTime, int64_t maxEffort);

private:
  struct Step {
    PeakReducer *reducer;
    double time;
  };
  mlir::FailureOr<std::optional<Step>> findCheapest(int64_t needed);

  const FunctionBudget &budget;
  OperationTimes &times;
  mlir::SmallVector<PeakReducer *> reducers;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_GREEDYSEARCH_H

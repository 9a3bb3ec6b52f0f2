//===- Ladder.h - The cheapest bytes first ----------------------------------------------------===//

#ifndef MTC_PASSES_SEARCH_LADDER_H
#define MTC_PASSES_SEARCH_LADDER_H

#include "passes/cost/OperationTimes.h"
#include "passes/search/Goal.h"
#include "passes/search/Technique.h"

namespace mtc {

/// Changes a function until its peak fits: by the technique that frees the bytes at the peak for
/// the least time, again and again. A smaller budget climbs further, so that the peak falls, and
/// the time rises, with the budget.
class Ladder {
public:
  Ladder(const Goal &goal, OperationTimes &times, llvm::ArrayRef<Technique *> techniques)
      : goal(goal), times(times), techniques(techniques) {}

  /// Climbs until the function fits, nothing lowers its peak, it takes so many seconds, the plans
  /// have taken so much effort, or it has come to take half as long again while as little as 1/32
  /// of the arena was freed. Fails with a diagnostic where there is no plan.
  mlir::LogicalResult climb(double mostTime, int64_t mostEffort);

private:
  struct Rung {
    Technique *technique;
    double time;
  };
  mlir::FailureOr<std::optional<Rung>> findCheapest(int64_t needed);

  const Goal &goal;
  OperationTimes &times;
  mlir::SmallVector<Technique *> techniques;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_LADDER_H

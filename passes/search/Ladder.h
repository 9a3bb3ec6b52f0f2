//===- Ladder.h - The cheapest bytes first ----------------------------------------------------===//

#ifndef MTC_PASSES_SEARCH_LADDER_H
#define MTC_PASSES_SEARCH_LADDER_H

#include "passes/search/Goal.h"
#include "passes/search/Technique.h"

namespace mtc {

/// Changes a function until its peak fits: by the technique that frees the bytes at the peak for
/// the least time, again and again. A smaller budget climbs further, so that the peak falls, and
/// the time rises, with the budget.
class Ladder {
public:
  Ladder(const Goal &goal, llvm::ArrayRef<Technique *> techniques)
      : goal(goal), techniques(techniques) {}

  /// Climbs until the function fits or nothing lowers its peak. Then a technique's other start is
  /// tried, and kept where the function fits or needs less. Fails with a diagnostic where there is
  /// no plan.
  mlir::LogicalResult climb();

private:
  mlir::LogicalResult climbFromHere();
  mlir::FailureOr<Technique *> findCheapest(int64_t excess);
  mlir::LogicalResult undo();

  const Goal &goal;
  mlir::SmallVector<Technique *> techniques;
  mlir::SmallVector<Technique *, 0> changes; ///< who made them
  bool isReached = false;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_LADDER_H

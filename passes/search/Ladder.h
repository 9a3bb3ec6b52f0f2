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
  /// Takes back all that was done.
  mlir::LogicalResult goBack();

private:
  /// From what a technique starts over with; null: from the function as it is.
  mlir::LogicalResult climbFrom(Technique *otherStart);
  mlir::FailureOr<Technique *> findCheapest(int64_t needed);

  const Goal &goal;
  mlir::SmallVector<Technique *> techniques;
  Technique *startedOver = nullptr;
  mlir::SmallVector<Technique *, 0> changes; ///< who made them
  int64_t excess = 0;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_LADDER_H

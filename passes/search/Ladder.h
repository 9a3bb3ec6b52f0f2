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

  /// Climbs until the function fits or nothing lowers its peak. Where it does not fit, a
  /// technique's other start is tried too, and a climb that does not look for what is just enough:
  /// the first that fits is kept or, where none does, the one that needs the least. Fails with a
  /// diagnostic where there is no plan.
  mlir::LogicalResult climb();

private:
  struct Way {
    Technique *otherStart;   ///< null: the function as it is
    bool looksForJustEnough; ///< of what frees all that is needed
  };
  mlir::LogicalResult climb(const Way &way);
  mlir::FailureOr<Technique *> findCheapest(int64_t needed);
  mlir::LogicalResult goBack();

  const Goal &goal;
  mlir::SmallVector<Technique *> techniques;
  Technique *startedOver = nullptr;
  mlir::SmallVector<Technique *, 0> changes; ///< who made them
  int64_t excess = 0;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_LADDER_H

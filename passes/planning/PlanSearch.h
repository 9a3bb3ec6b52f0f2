//===- PlanSearch.h - The fastest plan within a budget ----------------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANSEARCH_H
#define MTC_PASSES_PLANNING_PLANSEARCH_H

#include "passes/planning/CombinationQueue.h"
#include "passes/planning/SpeculativePlanner.h"

namespace mtc {

/// Searches the combinations of permitted changes for the fastest plan within the budget of the
/// settings: best first, with the cost without a budget as a lower bound.
class PlanSearch {
public:
  /// `allowed` are the techniques of --allow.
  PlanSearch(Planner &planner, llvm::ArrayRef<std::string> allowed);

  /// Returns the fastest plan within the budget, or the one with the lowest peak; nothing if no
  /// combination can be planned. Ties prefer fewer changes. A search that runs out of time returns
  /// the best plan known.
  std::optional<Plan> findFastest();

private:
  std::optional<Plan> planUnchanged();
  void searchCombinations(CombinationQueue &queue, bool mustCount);
  std::optional<PlanCost> tryOut(const Combination &combination,
                                 std::optional<double> maxSeconds = std::nullopt);
  std::optional<PlanCost> compare(const Combination &combination, std::optional<Plan> found);
  size_t findFirstCount(const Combination &combination, size_t technique);
  void tryCounts(const Combination &combination, size_t technique, size_t minCount);
  void addOpened();
  void undoChanges();
  std::vector<PlanRequest> guessNext() const;

  PlanRequest requestOf(const Combination &combination, const Combinations &among) const;
  PlanRequest requestOf(const Combination &combination) const {
    return requestOf(combination, combinations);
  }
  std::optional<PlanCost> bound(const Combination &combination) const {
    return planner.bound(combinations.settingsOf(combination));
  }
  /// Returns the combination with the maximum number of micro-batches.
  Combination withMaxCount(const Combination &combination) const {
    return combinations.withCount(combination, *counted, combinations.getMaxCount(*counted));
  }
  bool costsLittle(const Combination &combination) const;
  bool isBetter(const Plan &a, const Plan &b) const;
  bool bestFits() const { return best && best->fits(budget); }

  Planner &planner;
  SpeculativePlanner speculative;
  Combinations combinations;
  int64_t budget;
  std::optional<size_t> counted;           ///< The technique with counts.
  const CombinationQueue *queue = nullptr; ///< While its combinations are planned.
  std::optional<Plan> best;
  Combination bestCombination; ///< That of `best`.
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANSEARCH_H

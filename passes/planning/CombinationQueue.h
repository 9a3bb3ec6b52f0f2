//===- CombinationQueue.h - Combinations by a lower bound on their time -----------------------===//

#ifndef MTC_PASSES_PLANNING_COMBINATIONQUEUE_H
#define MTC_PASSES_PLANNING_COMBINATIONQUEUE_H

#include "passes/planning/Combinations.h"
#include "passes/planning/Planner.h"

namespace mtc {

/// The combinations that are not planned yet, by a lower bound on the time of an update. The time
/// of library calls is a bound that is known before kernels are formed; the cost without a budget
/// is a closer one.
class CombinationQueue {
public:
  struct Entry {
    Combination combination;
    size_t number; ///< Of the combination.
    double secondsOfCalls;
    std::optional<PlanCost> cost = std::nullopt; ///< Without a budget.
    bool isPossible = true;                      ///< Whether there is a plan.

    double getMinSeconds() const { return cost ? cost->seconds : secondsOfCalls; }
  };

  /// `settingsOf` returns the settings whose cost bounds that of a combination within the budget.
  using SettingsOf = std::function<PlanSettings(const Combination &)>;
  CombinationQueue(Planner &planner, llvm::ArrayRef<Combination> combinations,
                   SettingsOf settingsOf);

  /// Returns the entry with the lowest bound, or null if the queue is empty.
  const Entry *findNext() const;
  /// Removes and returns the combination with the lowest time without a budget: of equal ones, that
  /// with the fewest changes. Kernels are formed only for combinations whose library calls are not
  /// too slow. Returns nothing if the queue is empty, or if all bounds are at least `maxSeconds`.
  std::optional<Entry> takeNext(std::optional<double> maxSeconds);

private:
  void boundWithKernels(Entry &first);

  Planner &planner;
  SettingsOf settingsOf;
  std::vector<Entry> entries;
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_COMBINATIONQUEUE_H

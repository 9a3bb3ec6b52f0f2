//===- Combinations.h - Combinations of changes that the search may make ----------------------===//

#ifndef MTC_PASSES_PLANNING_COMBINATIONS_H
#define MTC_PASSES_PLANNING_COMBINATIONS_H

#include "passes/planning/Plan.h"

namespace mtc {

/// The chosen change of each technique: an index of its changes, or none.
struct Combination {
  std::vector<std::optional<size_t>> picks;

  int64_t countChanges() const {
    return llvm::count_if(picks, [](const auto &pick) { return pick.has_value(); });
  }
};

/// The changes that the settings leave open, and their combinations. A technique with several
/// changes has counts: its changes are 1, 2, …, which need less and less memory, and 0 is none.
class Combinations {
public:
  /// `allowed` are the techniques of --allow.
  Combinations(const PlanSettings &given, const PlanContext &context,
               llvm::ArrayRef<std::string> allowed = {});

  /// The changes of each technique.
  llvm::ArrayRef<std::vector<PlanChange>> getChanges() const { return changes; }

  Combination none() const { return {std::vector<std::optional<size_t>>(changes.size())}; }
  /// Returns the changes that are undone in the end if there is space.
  Combination getUndone() const;
  /// Returns the combinations of permitted changes that techniques without a count make, fewer
  /// changes first. All of them have the changes that are undone in the end.
  std::vector<Combination> findAll() const;

  /// Returns the technique with counts that is permitted, or nothing.
  std::optional<size_t> findCounted() const;
  size_t getMaxCount(size_t technique) const { return changes[technique].size(); }
  Combination withCount(Combination combination, size_t technique, size_t count) const {
    combination.picks[technique] = count ? std::optional(count - 1) : std::nullopt;
    return combination;
  }

  PlanSettings settingsOf(const Combination &combination) const;
  PlanRequest requestOf(const Combination &combination) const;

  /// Returns the change of a technique that only the changes of a combination permit.
  std::optional<PlanChange> findOpened(size_t technique, const Combination &combination) const;
  /// Adds such a change.
  void open(size_t technique, PlanChange change) { changes[technique] = {std::move(change)}; }

private:
  bool isPermitted(const Technique &technique) const;

  PlanSettings given;
  PlanContext context;
  std::vector<std::string> allowed;
  std::vector<std::vector<PlanChange>> changes; ///< For each technique.
};

/// Returns whether two combinations make the same changes of the last stage, which the cost without
/// a budget does not include.
bool haveEqualLateChanges(const Combination &a, const Combination &b);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_COMBINATIONS_H

//===- RecomputationImprovement.cpp - Improvement of a plan that meets the budget -------------===//

#include "passes/recompute/Recomputation.h"

using namespace mlir;
using namespace mtc;

/// Limits on the improvement.
static constexpr int maxRepairs = 8, maxStarts = 3;
static constexpr int64_t maxEffort = 40'000;

/// Replaces copies by cheaper ones, most expensive first, until no copy can be replaced. The greedy
/// search only makes changes that lower the peak by themselves, so it misses sets of changes that
/// lower it only together.
LogicalResult Recomputation::improve() {
  isImproving = true;
  const int64_t lastEffort = budget.analysis.getEffort() + maxEffort;
  for (bool isImproved = true; isImproved;) {
    isImproved = false;
    Removals removals; // Keeps removed operations alive, since the list of copies refers to them.
    std::map<double, int> needed;
    const auto known = retention.getMostExpensiveFirst();
    for (const auto &[seconds, copy] : known) {
      if (budget.analysis.getEffort() > lastEffort || budget.isTimeUp())
        break;
      if (!copy.copy->getBlock() || !copy.value.getOwner()->getBlock() ||
          needed[seconds] >= maxNeeded)
        continue;
      FailureOr<bool> isReplaced = replace(copy, known, removals);
      if (failed(isReplaced))
        return failure();
      isImproved |= *isReplaced;
      needed[seconds] += !*isReplaced;
    }
    retention.forgetRemoved();
  }
  return success();
}

/// Removes a copy, and recomputes other values such that the function meets the budget again.
/// Undoes this unless it saves time.
FailureOr<bool> Recomputation::replace(const Rematerializer::Added::Copy &copy,
                                       ArrayRef<Retention::TimedCopy> known, Removals &removals) {
  const double before = budget.getSeconds(times);
  auto removal = std::make_unique<CopyRemoval>(times, listeners);
  if (!removal->remove(copy))
    return false;
  SmallVector<Unit> firsts;
  for (int start = 0; start < maxStarts; ++start) {
    values.reset();
    refused.clear();
    refused.insert({copy.value, 1});
    llvm::for_each(firsts, [&](const Unit &unit) { refuse(unit); });
    std::optional<Unit> first;
    FailureOr<std::optional<Step>> step = repair(copy.value, 2 * removal->getTime(), first);
    if (failed(step))
      return failure();
    if (*step) {
      Removals others;
      double saved = removal->getTime();
      if ((*step)->time >= saved) {
        if (failed(retention.remove(known, known.size(), others)))
          return failure();
        for (const std::unique_ptr<CopyRemoval> &other : others)
          saved += other->getTime();
      }
      if (saved > (*step)->time * (1 + 1e-6)) {
        FailureOr<int64_t> now = budget.findExcess();
        if (failed(now))
          return failure();
        // The time of waiting for copies between memory spaces may have grown.
        if (*now <= 0 && budget.getSeconds(times) < before) {
          add(**step);
          time -= saved;
          values.reset();
          removals.push_back(std::move(removal));
          llvm::move(others, std::back_inserter(removals));
          return true;
        }
      }
      for (const std::unique_ptr<CopyRemoval> &other : llvm::reverse(others))
        other->undo();
    }
    if (values)
      values->undoTo(0);
    values.reset();
    if (!first)
      break;
    firsts.push_back(*first);
  }
  removal->undo();
  if (failed(budget.analysis.update()))
    return failure();
  return false;
}

/// Recomputes values at the peaks until the function meets the budget, except a value whose copy
/// was removed. Returns nothing if this is impossible in `maxTime` seconds; the caller undoes the
/// changes. Sets `first` to the first choice.
FailureOr<std::optional<Recomputation::Step>> Recomputation::repair(Value original, double maxTime,
                                                                    std::optional<Unit> &first) {
  Step sum;
  for (int tries = 0; tries < maxRepairs; ++tries) {
    if (failed(budget.analysis.update()))
      return failure();
    excess = budget.liveBytes() - budget.bytes;
    if (excess <= 0)
      return std::optional(sum);
    Operation *place = budget.getPeakOperation();
    SmallVector<UnitGroup> groups;
    for (Unit &unit : findUnits(place))
      if (!isRefused(unit) && !llvm::is_contained(unit.values, original))
        groups.emplace_back().units.push_back(std::move(unit));
    std::optional<UnitGroup> best = choose(groups);
    if (!best || sum.time + best->getTime() > maxTime)
      return std::optional<Step>();
    if (!first)
      first = best->units.front();
    const OrderScore before = budget.score();
    const size_t mark = getValues().mark();
    Step step = apply(best->units, best->getTime(), place);
    if (failed(budget.analysis.update()))
      return failure();
    if (!step.applied.empty() && budget.score() < before) {
      sum += step;
      continue;
    }
    getValues().undoTo(mark);
    refuse(best->units.front());
  }
  return std::optional<Step>();
}

//===- PlanSearch.cpp - The fastest plan within a budget --------------------------------------===//

#include "passes/planning/PlanSearch.h"

#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;
using namespace mtc;

/// Plans that must free more than this part of their memory take the longest and hardly ever fit.
static constexpr int64_t maxFreed = 8;

PlanSearch::PlanSearch(Planner &planner, ArrayRef<std::string> allowed)
    : planner(planner), speculative(planner),
      combinations(planner.getGiven(), planner.getContext(), allowed),
      budget(*planner.getGiven().fit.memory), counted(combinations.findCounted()) {}

std::optional<Plan> PlanSearch::findFastest() {
  const std::vector<Combination> all = combinations.findAll();
  planner.getProgress().start(2 * all.size());
  // Only the changes that are undone at the end are permitted.
  if (all.size() == 1 && !counted)
    if (std::optional<Plan> unchanged = planUnchanged()) {
      planner.addMessages(*unchanged);
      return unchanged;
    }
  bool mustCount = false;
  if (counted) {
    // Whether counts are needed is known when the kernels of the whole batch are formed. Meanwhile,
    // other threads lower the combinations with counts.
    const Combination first = combinations.getUndone();
    std::vector<StageCache::Request> requests = {{combinations.settingsOf(first), Stage::Kernels}};
    for (const Combination &each : all)
      requests.push_back({combinations.settingsOf(withMaxCount(each)), Stage::Training});
    planner.lowerAhead(requests);
    std::optional<PlanCost> free = bound(first);
    mustCount = free && free->peak / maxFreed > budget;
  }
  CombinationQueue open(planner, all, [=, this](const Combination &each) {
    return combinations.settingsOf(mustCount ? withMaxCount(each) : each);
  });
  searchCombinations(open, mustCount);
  if (best) {
    addOpened();
    undoChanges();
    planner.addMessages(*best);
  }
  speculative.clear();
  return std::exchange(best, std::nullopt);
}

/// Returns the plan without changes if it meets the budget without any technique. Changes that are
/// undone in the end would only make it slower.
std::optional<Plan> PlanSearch::planUnchanged() {
  std::optional<PlanCost> free = bound(combinations.none());
  if (!free || free->peak > budget)
    return std::nullopt;
  std::optional<Plan> found = planner.plan(requestOf(combinations.none()));
  if (!found || !found->fits(budget) || (*found->allocated)->hasAttr(techniquesAttribute))
    return std::nullopt;
  return found;
}

/// Plans the combinations of a queue until no other one can be faster than the best plan.
void PlanSearch::searchCombinations(CombinationQueue &open, bool mustCount) {
  queue = &open;
  std::vector<CombinationQueue::Entry> known;
  const bool offloads =
      !planner.getGiven().fit.offload.getUses(planner.getContext().offloadSpace).isOff();
  while (!best || !planner.isTimeUp()) {
    std::optional<CombinationQueue::Entry> next =
        open.takeNext(bestFits() ? std::optional(best->cost.seconds) : std::nullopt);
    if (!next)
      break;
    // A combination is skipped if it is slower and needs more memory without a budget, because it
    // would have to save more memory by the same techniques.
    const bool isDominated =
        !offloads && llvm::any_of(known, [&](const CombinationQueue::Entry &faster) {
          return faster.cost->peak <= next->cost->peak &&
                 haveEqualLateChanges(faster.combination, next->combination);
        });
    known.push_back(*next);
    if (isDominated || (!mustCount && tryOut(next->combination)))
      continue;
    if (counted)
      tryCounts(next->combination, *counted, mustCount ? 0 : 1);
  }
}

/// Returns the request of a combination, whose search may take the time that is left.
PlanRequest PlanSearch::requestOf(const Combination &combination, const Combinations &among) const {
  PlanRequest request = among.requestOf(combination);
  // The search removes superfluous changes after it has met the budget, so that its result may be
  // faster than the first plan that meets the budget.
  constexpr double maxSaved = 1.25;
  if (bestFits())
    request.settings.fit.maxSeconds = maxSaved * best->cost.seconds;
  const QueryProgress &progress = planner.getProgress();
  request.settings.fit.searchSeconds =
      best ? progress.getSecondsLeft() : progress.getSecondsOfFirst();
  return request;
}

//===------------------------------------------------------------------------------------------===//
// Comparison with the best plan
//===------------------------------------------------------------------------------------------===//

bool PlanSearch::isBetter(const Plan &a, const Plan &b) const {
  const bool aFits = a.cost.peak <= budget, bFits = b.cost.peak <= budget;
  if (aFits != bFits)
    return aFits;
  if (a.isTooMuch != b.isTooMuch)
    return b.isTooMuch;
  return aFits ? a.cost.seconds < b.cost.seconds : a.cost.peak < b.cost.peak;
}

/// Keeps the plan of a combination if it is the best one. `maxSeconds` replaces the time of the
/// best plan as the limit of an update. Other threads plan the combinations that probably follow.
std::optional<PlanCost> PlanSearch::tryOut(const Combination &combination,
                                           std::optional<double> maxSeconds) {
  PlanRequest request = requestOf(combination);
  if (maxSeconds)
    request.settings.fit.maxSeconds = maxSeconds;
  return compare(combination, speculative.plan(request, [&] { return guessNext(); }));
}

/// Keeps the plan of a combination if it is better than the best one. Returns its cost if the plan
/// fits the budget. Also returns it if the plan is slower than the best plan with the same count,
/// because it would be rejected even if it fitted.
std::optional<PlanCost> PlanSearch::compare(const Combination &combination,
                                            std::optional<Plan> found) {
  planner.getProgress().finishPart();
  if (!found)
    return std::nullopt;
  const bool fits = found->fits(budget);
  const PlanCost cost = found->cost;
  if (!fits && !found->isTooMuch && bestFits() && cost.seconds > best->cost.seconds &&
      (!counted || combination.picks[*counted] == bestCombination.picks[*counted]))
    return cost;
  if (!best || isBetter(*found, *best)) {
    best = std::move(found);
    bestCombination = combination;
  }
  return fits ? std::optional(cost) : std::nullopt;
}

/// Returns whether the best plan is hardly slower than a combination without a budget.
bool PlanSearch::costsLittle(const Combination &combination) const {
  std::optional<PlanCost> free = bound(combination);
  return bestFits() && free && best->cost.seconds <= 1.05 * free->seconds;
}

/// Returns the requests that the search makes next if the current plan is not better than the best
/// one. These are the request of the next combination, or, after the last one, the requests of a
/// change that only the best combination permits, with and without the change that is undone in the
/// end.
std::vector<PlanRequest> PlanSearch::guessNext() const {
  if (!bestFits())
    return {};
  const CombinationQueue::Entry *next = queue->findNext();
  if (next && next->getMinSeconds() < best->cost.seconds) {
    if (!next->cost) // Its kernels are formed first.
      return {};
    Combination combination = next->combination;
    if (counted)
      combination.picks[*counted] = bestCombination.picks[*counted];
    return {requestOf(combination)};
  }
  Combination combination = bestCombination;
  for (size_t technique = 0; technique < combination.picks.size(); ++technique)
    if (std::optional<PlanChange> opened = combinations.findOpened(technique, combination)) {
      if (costsLittle(combination))
        return {};
      Combinations all = combinations; // The search adds the change when its turn comes.
      all.open(technique, std::move(*opened));
      combination.picks[technique] = 0;
      std::vector<PlanRequest> guesses = {requestOf(combination, all)};
      for (auto [pick, other] : llvm::zip_equal(combination.picks, getTechniques()))
        if (other.isUndone && pick) {
          pick = std::nullopt;
          guesses.push_back(requestOf(combination, all));
          break;
        }
      return guesses;
    }
  return {};
}

//===------------------------------------------------------------------------------------------===//
// Changes in addition to a combination
//===------------------------------------------------------------------------------------------===//

/// Returns the smallest count whose plan without a budget fits, or the last count. Counts start at
/// 1; larger counts need less memory.
size_t PlanSearch::findFirstCount(const Combination &combination, size_t technique) {
  auto fitsFreely = [&](size_t count) {
    std::optional<PlanCost> cost = bound(combinations.withCount(combination, technique, count));
    return cost && cost->peak <= budget;
  };
  size_t tooFew = 0, enough = combinations.getMaxCount(technique);
  if (planner.isTimeUp() || !fitsFreely(enough))
    return enough;
  while (tooFew + 1 < enough && !planner.isTimeUp()) {
    const size_t middle = (tooFew + enough) / 2;
    (fitsFreely(middle) ? enough : tooFew) = middle;
  }
  return enough;
}

/// Searches the count of a technique, beginning with that of the best plan: smaller counts compute
/// with larger batches, but recompute or transfer more within the budget. Tries smaller counts, at
/// least `minCount`, while they are faster.
void PlanSearch::tryCounts(const Combination &combination, size_t technique, size_t minCount) {
  const size_t last = combinations.getMaxCount(technique);
  std::map<size_t, std::optional<Plan>> planned; // Ahead of their turn.
  auto tryWith = [&](size_t count) -> std::optional<PlanCost> {
    const Combination own = combinations.withCount(combination, technique, count);
    if (auto known = planned.extract(count))
      return compare(own, std::move(known.mapped()));
    return planner.isTimeUp() ? std::nullopt : tryOut(own);
  };
  const bool isFirst = !bestFits() || !bestCombination.picks[technique];
  size_t count =
      isFirst ? findFirstCount(combination, technique) : *bestCombination.picks[technique] + 1;
  // If the first count fits, the next one is tried in any case.
  if (!bestFits() && count > minCount && !planner.isTimeUp()) {
    const PlanRequest first = requestOf(combinations.withCount(combination, technique, count)),
                      next = requestOf(combinations.withCount(combination, technique, count - 1));
    auto both = planner.planEach({&first, &next});
    planned[count] = std::move(both.front());
    planned[count - 1] = std::move(both.back());
  }
  std::optional<PlanCost> cost = tryWith(count);
  while (!cost && count < last && !planner.isTimeUp())
    cost = tryWith(++count);
  if (!cost && minCount == 0) // Accumulated gradients may exceed what a smaller batch saves.
    tryWith(0);
  // A combination that is slower than another one with the same count remains so.
  if (!cost || cost->seconds > best->cost.seconds)
    return;
  while (count > minCount) {
    std::optional<PlanCost> fewer = tryWith(--count);
    if (!fewer || fewer->seconds >= cost->seconds)
      return;
    cost = fewer;
  }
}

/// Tries the changes that only other changes permit, such as 16-bit accumulated gradients. They are
/// added to those of the best plan, unless this plan costs little time, or to the largest count if
/// no plan fits.
void PlanSearch::addOpened() {
  Combination combination = bestCombination;
  if (counted && !bestFits())
    combination = withMaxCount(combination);
  for (size_t technique = 0; technique < combination.picks.size(); ++technique) {
    std::optional<PlanChange> opened =
        planner.isTimeUp() ? std::nullopt : combinations.findOpened(technique, combination);
    if (!opened)
      continue;
    if (costsLittle(combination))
      return;
    combinations.open(technique, std::move(*opened));
    combination.picks[technique] = 0;
    tryOut(combination);
  }
}

/// Undoes the changes that have no effect on the program and, if the plan fits without them, those
/// that cost time.
void PlanSearch::undoChanges() {
  for (auto [i, technique] : llvm::enumerate(getTechniques())) {
    if (!technique.isUndone || !bestCombination.picks[i] || planner.isTimeUp())
      continue;
    Combination without = bestCombination;
    without.picks[i] = std::nullopt;
    const auto costs = planner.boundEach(
        {combinations.settingsOf(bestCombination), combinations.settingsOf(without)});
    if (costs[0] && costs[0] == costs[1]) {
      best->request = requestOf(without);
      bestCombination = without;
    } else if (bestFits() && costs[1] && costs[1]->seconds < best->cost.seconds) {
      tryOut(without, best->request.settings.fit.maxSeconds);
    }
  }
}

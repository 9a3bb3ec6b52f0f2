//===- FastestPlan.cpp - The fastest plan within a budget -------------------------------------===//

#include "passes/planning/Planner.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/memory/MemoryAnalysis.h"

using namespace mlir;
using namespace mtc;

bool Planner::isPermitted(const Technique &kind) const {
  switch (kind.permission) {
  case Permission::Budget:
    return true;
  case Permission::Allow:
    return llvm::is_contained(allowed, kind.name);
  case Permission::Flag:
    return false;
  }
  llvm_unreachable("all permissions are handled");
}

bool Planner::isBetter(const Plan &a, const Plan &b) const {
  const int64_t budget = *given.fit.memory;
  const bool aFits = a.needs.peak <= budget, bFits = b.needs.peak <= budget;
  if (aFits != bFits)
    return aFits;
  if (a.isTooMuch != b.isTooMuch)
    return b.isTooMuch;
  return aFits ? a.needs.seconds < b.needs.seconds : a.needs.peak < b.needs.peak;
}

/// Returns the changes that are undone in the end if there is room.
Planner::Choice Planner::saving() const {
  Choice choice = none();
  for (auto [i, kind] : llvm::enumerate(getTechniques()))
    if (kind.isUndone && isPermitted(kind) && changes[i].size() == 1)
      choice.picks[i] = 0;
  return choice;
}

/// Undoes the changes that have no effect on the program and, if the plan fits without them, those
/// that cost time.
void Planner::undoSavings() {
  for (auto [i, kind] : llvm::enumerate(getTechniques())) {
    if (!kind.isUndone || !bestChoice.picks[i] || isTimeUp())
      continue;
    Choice without = bestChoice;
    without.picks[i] = std::nullopt;
    const auto needs = boundEach({bestChoice, without});
    if (needs[0] && needs[0] == needs[1]) {
      Candidate same = candidateOf(without, given.fit.memory);
      best->settings = std::move(same.settings);
      best->flags = std::move(same.flags);
      best->effect = same.effect;
      bestChoice = without;
    } else if (bestFits() && needs[1] && needs[1]->seconds < best->needs.seconds) {
      tryOut(without, best->settings.fit.maxSeconds);
    }
  }
}

/// Returns the plan without changes if it meets the budget without any technique. Changes that are
/// undone in the end would only make it slower.
std::optional<Plan> Planner::planUnchanged() {
  std::optional<PlanNeeds> free = bound(none());
  if (!free || free->peak > *given.fit.memory)
    return std::nullopt;
  std::optional<Plan> found = plan(none(), given.fit.memory);
  if (!found || found->isTooMuch || found->needs.peak > *given.fit.memory ||
      (*found->allocated)->hasAttr(techniquesAttribute))
    return std::nullopt;
  return found;
}

/// Returns the combinations of permitted changes that techniques without a count make, fewer
/// changes first.
std::vector<Planner::Choice> Planner::findCombinations() const {
  std::vector<Choice> combinations = {saving()};
  for (auto [i, kind] : llvm::enumerate(getTechniques())) {
    // A technique that only the user has switched off stays off.
    if (kind.permission != Permission::Allow || !isPermitted(kind) || changes[i].size() != 1)
      continue;
    for (size_t known = combinations.size(), k = 0; k < known; ++k) {
      combinations.push_back(combinations[k]);
      combinations.back().picks[i] = 0;
    }
  }
  return combinations;
}

/// Keeps the plan of a combination if it is better than the best one. Returns its needs if it fits,
/// or if it is slower than the best plan with the same count: it then remains so, whether it fits
/// or not.
std::optional<PlanNeeds> Planner::compare(const Choice &choice, std::optional<Plan> found) {
  finishPart();
  if (!found)
    return std::nullopt;
  const bool fits = found->needs.peak <= *given.fit.memory && !found->isTooMuch;
  const PlanNeeds needs = found->needs;
  const std::optional<size_t> counted = findCounted();
  if (!fits && !found->isTooMuch && bestFits() && needs.seconds > best->needs.seconds &&
      (!counted || choice.picks[*counted] == bestChoice.picks[*counted]))
    return needs;
  if (!best || isBetter(*found, *best)) {
    best = std::move(found);
    bestChoice = choice;
  }
  return fits ? std::optional(needs) : std::nullopt;
}

/// Returns the smallest count whose plan without a budget fits, or the last count. Counts start at
/// 1; larger counts need less memory.
size_t Planner::findFirstCount(const Choice &choice, size_t technique) {
  auto fitsFreely = [&](size_t count) {
    std::optional<PlanNeeds> needs = bound(withCount(choice, technique, count));
    return needs && needs->peak <= *given.fit.memory;
  };
  size_t tooFew = 0, enough = changes[technique].size();
  if (isTimeUp() || !fitsFreely(enough))
    return enough;
  while (tooFew + 1 < enough && !isTimeUp()) {
    const size_t middle = (tooFew + enough) / 2;
    (fitsFreely(middle) ? enough : tooFew) = middle;
  }
  return enough;
}

/// Searches the count of a technique, beginning with that of the best plan: smaller counts compute
/// with larger batches, but recompute or transfer more within the budget. Tries smaller counts, at
/// least `least`, while they are faster.
void Planner::tryCounts(const Choice &choice, size_t technique, size_t least) {
  const size_t last = changes[technique].size();
  std::map<size_t, std::optional<Plan>> planned; // Ahead of their turn.
  auto tryWith = [&](size_t count) -> std::optional<PlanNeeds> {
    const Choice counted = withCount(choice, technique, count);
    if (auto known = planned.extract(count))
      return compare(counted, std::move(known.mapped()));
    return isTimeUp() ? std::nullopt : tryOut(counted);
  };
  const bool isFirst = !bestFits() || !bestChoice.picks[technique];
  size_t count = isFirst ? findFirstCount(choice, technique) : *bestChoice.picks[technique] + 1;
  // If the first count fits, the next one is tried in any case.
  if (!bestFits() && count > least && !isTimeUp()) {
    auto both = planEach({candidateOf(withCount(choice, technique, count), given.fit.memory),
                          candidateOf(withCount(choice, technique, count - 1), given.fit.memory)});
    planned[count] = std::move(both.front());
    planned[count - 1] = std::move(both.back());
  }
  std::optional<PlanNeeds> needs = tryWith(count);
  while (!needs && count < last && !isTimeUp())
    needs = tryWith(++count);
  if (!needs && least == 0) // Accumulated gradients may be larger than what a smaller batch saves.
    tryWith(0);
  // A combination that is slower than another one with the same count remains so.
  if (!needs || needs->seconds > best->needs.seconds)
    return;
  while (count > least) {
    std::optional<PlanNeeds> fewer = tryWith(--count);
    if (!fewer || fewer->seconds >= needs->seconds)
      return;
    needs = fewer;
  }
}

/// Adds the messages of the stages before allocation to those of a plan.
void Planner::addMessages(Plan &result) {
  std::vector<Diagnostic> messages;
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels})
    for (Diagnostic &message : lowerTo(stage, result.settings).messages)
      messages.push_back(std::move(message));
  for (Diagnostic &message : result.messages)
    messages.push_back(std::move(message));
  result.messages = std::move(messages);
}

/// Tries the changes that only other changes permit, such as 16-bit accumulated gradients: beside
/// those of the best plan, unless this plan pays little for the budget, and beside the largest
/// count if no plan fits.
void Planner::addOpened() {
  Choice choice = bestChoice;
  if (std::optional<size_t> counted = findCounted(); counted && !bestFits())
    choice = withCount(choice, *counted, changes[*counted].size());
  for (size_t technique = 0; technique < changes.size(); ++technique) {
    std::optional<PlanChange> opened = isTimeUp() ? std::nullopt : findOpened(technique, choice);
    if (!opened)
      continue;
    if (paysLittle(choice))
      return;
    changes[technique] = {std::move(*opened)};
    choice.picks[technique] = 0;
    tryOut(choice);
  }
}

/// Returns the change of a technique that only the changes of a combination permit.
std::optional<PlanChange> Planner::findOpened(size_t technique, const Choice &choice) {
  const Technique &kind = getTechniques()[technique];
  if (kind.permission != Permission::Allow || !isPermitted(kind) || !changes[technique].empty() ||
      !kind.propose)
    return std::nullopt;
  std::vector<PlanChange> opened = kind.propose(settingsOf(choice), source.getPlanContext());
  return opened.size() == 1 ? std::optional(std::move(opened.front())) : std::nullopt;
}

/// Whether the best plan is hardly slower than a combination without a budget.
bool Planner::paysLittle(const Choice &choice) {
  std::optional<PlanNeeds> free = bound(choice);
  return bestFits() && free && best->needs.seconds <= 1.05 * free->seconds;
}

/// Returns the plans that the search makes next if the current one is not better than the best one:
/// that of the next combination, or those of a change that only the best combination permits, with
/// and without the change that is undone in the end.
std::vector<Planner::Candidate> Planner::guessNext() {
  if (!bestFits())
    return {};
  const auto next = llvm::min_element(
      open, [](const Bounded &a, const Bounded &b) { return a.getSeconds() < b.getSeconds(); });
  if (next != open.end() && next->getSeconds() < best->needs.seconds) {
    if (!next->needs) // Its kernels are formed first.
      return {};
    Choice choice = next->choice;
    if (std::optional<size_t> counted = findCounted())
      choice.picks[*counted] = bestChoice.picks[*counted];
    return {candidateOf(choice, given.fit.memory)};
  }
  Choice choice = bestChoice;
  for (size_t technique = 0; technique < changes.size(); ++technique)
    if (std::optional<PlanChange> opened = findOpened(technique, choice)) {
      if (paysLittle(choice))
        return {};
      Changes all = changes; // The search adds the change when its turn comes.
      all[technique] = {std::move(*opened)};
      choice.picks[technique] = 0;
      std::vector<Candidate> guesses = {candidateOf(choice, given.fit.memory, all)};
      for (auto [pick, other] : llvm::zip_equal(choice.picks, getTechniques()))
        if (other.isUndone && pick) {
          pick = std::nullopt;
          guesses.push_back(candidateOf(choice, given.fit.memory, all));
          break;
        }
      return guesses;
    }
  return {};
}

/// Whether two combinations make the same changes of the last stage, which the cost without a
/// budget does not show.
static bool areEqualLate(const Planner::Choice &a, const Planner::Choice &b) {
  return llvm::all_of(llvm::zip_equal(getTechniques(), a.picks, b.picks), [](const auto &each) {
    const auto &[kind, first, second] = each;
    return kind.stage < Stage::Allocated || first == second;
  });
}

/// Returns the technique with counts that is permitted, or nothing.
std::optional<size_t> Planner::findCounted() const {
  for (auto [technique, kind] : llvm::enumerate(getTechniques()))
    if (isPermitted(kind) && changes[technique].size() > 1)
      return technique;
  return std::nullopt;
}

/// Returns the combinations with the time of their library calls.
std::vector<Planner::Bounded> Planner::boundByCalls(ArrayRef<Choice> combinations,
                                                    CountedAs countedAs) {
  // Some calls become parts of others, or kernels, after this stage.
  constexpr double minPart = 0.75;
  lowerAll(llvm::map_to_vector<0>(combinations, [&](const Choice &choice) {
    return Lowering{settingsOf(countedAs(choice)), Stage::Training};
  }));
  std::vector<Bounded> open;
  for (auto [number, choice] : llvm::enumerate(combinations)) {
    if (isTimeUp() && !open.empty())
      break; // One combination is planned in any case.
    if (std::optional<double> seconds = getSecondsOfCalls(countedAs(choice)))
      open.push_back({choice, number,
                      llvm::count_if(choice.picks, [](const auto &pick) { return !!pick; }),
                      minPart * *seconds, std::nullopt});
  }
  return open;
}

/// Returns the open combination with the lowest time without a budget: of equal ones, that with the
/// fewest changes. Only forms the kernels of those whose library calls are not too slow. Nothing if
/// none is open, or if no plan can be faster than the best one.
std::optional<Planner::Bounded> Planner::takeNext(CountedAs countedAs) {
  auto order = [](const Bounded &each) {
    return std::tuple(each.getSeconds(), each.needs.has_value(), each.changes, each.number);
  };
  while (!open.empty()) {
    auto next = llvm::min_element(
        open, [&](const Bounded &a, const Bounded &b) { return order(a) < order(b); });
    if (bestFits() && best->needs.seconds <= next->getSeconds())
      return std::nullopt;
    if (next->needs) {
      Bounded taken = std::move(*next);
      open.erase(next);
      return taken;
    }
    // Several threads lower combinations with about equal calls together.
    constexpr double near = 1.25;
    const double most = near * next->least;
    SmallVector<Bounded *> group;
    for (Bounded &each : open)
      if (!each.needs && each.least <= most)
        group.push_back(&each);
    std::swap(group.front(), *llvm::find(group, &*next));
    const auto needs = boundEach(llvm::map_to_vector<0>(
        group, [&](const Bounded *each) { return countedAs(each->choice); }));
    for (auto [each, own] : llvm::zip_equal(group, needs)) {
      each->needs = own;
      each->isPossible = own.has_value();
      finishPart();
    }
    llvm::erase_if(open, [](const Bounded &each) { return !each.isPossible; });
  }
  return std::nullopt;
}

std::optional<Plan> Planner::findFastest() {
  const std::vector<Choice> combinations = findCombinations();
  start(2 * combinations.size());
  const std::optional<size_t> counted = findCounted();
  auto asLargestCount = [&](const Choice &choice) {
    return withCount(choice, *counted, changes[*counted].size());
  };
  // Nothing but the changes that are undone in the end is permitted.
  if (combinations.size() == 1 && !counted)
    if (std::optional<Plan> unchanged = planUnchanged()) {
      addMessages(*unchanged);
      return unchanged;
    }
  bool mustCount = false;
  if (counted) {
    // Whether counts are needed is known when the kernels of the whole batch are formed. Other
    // threads lower the combinations that follow if they are.
    std::vector<Lowering> ahead = {{settingsOf(saving()), Stage::Kernels}};
    for (const Choice &choice : combinations)
      ahead.push_back({settingsOf(asLargestCount(choice)), Stage::Training});
    lowerAll(ahead);
    // Plans that must free nearly everything take the longest and hardly ever fit.
    constexpr int64_t maxFreed = 8;
    std::optional<PlanNeeds> plain = bound(saving());
    mustCount = plain && plain->peak / maxFreed > *given.fit.memory;
  }
  auto countedAs = [&](const Choice &choice) {
    return mustCount ? asLargestCount(choice) : choice;
  };
  open = boundByCalls(combinations, countedAs);
  std::vector<Bounded> known;
  const bool offloads = !given.fit.offload.getUses(source.getPlanContext().offloadSpace).isOff();
  while (!best || !isTimeUp()) {
    std::optional<Bounded> next = takeNext(countedAs);
    if (!next)
      break;
    // What is slower and needs more memory without a budget would have to save more with one, by
    // the same techniques.
    const bool isDominated = !offloads && llvm::any_of(known, [&](const Bounded &faster) {
      return faster.needs->peak <= next->needs->peak && areEqualLate(faster.choice, next->choice);
    });
    known.push_back(*next);
    if (isDominated || (!mustCount && tryOut(next->choice)))
      continue;
    if (counted)
      tryCounts(next->choice, *counted, mustCount ? 0 : 1);
  }
  if (best) {
    addOpened();
    undoSavings();
    addMessages(*best);
  }
  ahead.clear();
  return std::exchange(best, std::nullopt);
}

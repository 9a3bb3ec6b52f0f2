//===- FastestPlan.cpp - The fastest plan within a budget -------------------------------------===//

#include "passes/planning/Planner.h"

#include "passes/memory/MemoryAnalysis.h"

using namespace mlir;
using namespace mtc;

bool Planner::isPermitted(const TechniqueKind &kind) const {
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
  const int64_t budget = *given.memory;
  const bool aFits = a.needs.peak <= budget, bFits = b.needs.peak <= budget;
  if (aFits != bFits)
    return aFits;
  if (a.isTooMuch != b.isTooMuch)
    return b.isTooMuch;
  return aFits ? a.needs.seconds < b.needs.seconds : a.needs.peak < b.needs.peak;
}

/// Returns the combinations of permitted changes that techniques without a count make, fewer
/// changes first.
std::vector<Planner::Choice> Planner::findCombinations() const {
  std::vector<Choice> combinations = {none()};
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

/// Plans a combination within the budget. Returns its needs if it fits, or if it is slower than the
/// best plan with the same count: it then remains so, whether it fits or not.
std::optional<PlanNeeds> Planner::tryOut(const Choice &choice) {
  std::optional<Plan> found = plan(choice, given.memory);
  finishPart();
  if (!found)
    return std::nullopt;
  const bool fits = found->needs.peak <= *given.memory && !found->isTooMuch;
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
    return needs && needs->peak <= *given.memory;
  };
  size_t tooFew = 0, enough = changes[technique].size();
  if (!fitsFreely(enough))
    return enough;
  while (tooFew + 1 < enough) {
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
  auto tryWith = [&](size_t count) {
    return isTimeUp() ? std::nullopt : tryOut(withCount(choice, technique, count));
  };
  const bool isFirst = !bestFits() || !bestChoice.picks[technique];
  size_t count = isFirst ? findFirstCount(choice, technique) : *bestChoice.picks[technique] + 1;
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
  for (auto [technique, kind] : llvm::enumerate(getTechniques())) {
    if (kind.permission != Permission::Allow || !isPermitted(kind) || !changes[technique].empty() ||
        !kind.propose || isTimeUp())
      continue;
    std::vector<PlanChange> opened = kind.propose(settingsOf(choice), source.getPlanContext());
    if (opened.size() != 1)
      continue;
    std::optional<PlanNeeds> free = bound(choice);
    if (bestFits() && free && best->needs.seconds <= 1.05 * free->seconds)
      return;
    changes[technique] = std::move(opened);
    choice.picks[technique] = 0;
    tryOut(choice);
  }
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

std::optional<Plan> Planner::findFastest() {
  const std::vector<Choice> combinations = findCombinations();
  start(2 * combinations.size());
  const std::optional<size_t> counted = findCounted();
  // Plans that must free nearly everything take the longest and hardly ever fit.
  constexpr int64_t mostFreed = 8;
  std::optional<PlanNeeds> plain = counted ? bound(none()) : std::nullopt;
  const bool mustCount = plain && plain->peak / mostFreed > *given.memory;
  auto boundedAs = [&](const Choice &choice) {
    return mustCount ? withCount(choice, *counted, changes[*counted].size()) : choice;
  };
  lowerAll(llvm::map_to_vector<0>(
      combinations, [&](const Choice &choice) { return settingsOf(boundedAs(choice)); }));
  std::vector<Bounded> bounded;
  for (auto [number, choice] : llvm::enumerate(combinations)) {
    if (isTimeUp() && !bounded.empty())
      break;
    if (std::optional<PlanNeeds> needs = bound(boundedAs(choice)))
      bounded.push_back({choice, *needs, number,
                         llvm::count_if(choice.picks, [](const auto &pick) { return !!pick; })});
    finishPart();
  }
  // Faster ones first; among equals, those with fewer changes.
  llvm::sort(bounded, [](const Bounded &a, const Bounded &b) {
    return std::tie(a.needs.seconds, a.changes, a.number) <
           std::tie(b.needs.seconds, b.changes, b.number);
  });
  const bool offloads = !given.offload.getUses(source.getPlanContext().offloadSpace).isOff();
  for (auto [i, each] : llvm::enumerate(bounded)) {
    if ((bestFits() && best->needs.seconds <= each.needs.seconds) || (best && isTimeUp()))
      break;
    // What is slower and needs more memory without a budget would have to save more with one, by
    // the same techniques.
    const bool isDominated =
        !offloads && llvm::any_of(ArrayRef(bounded).take_front(i), [&](const Bounded &known) {
          return known.needs.peak <= each.needs.peak && areEqualLate(known.choice, each.choice);
        });
    if (isDominated || (!mustCount && tryOut(each.choice)))
      continue;
    if (counted)
      tryCounts(each.choice, *counted, mustCount ? 0 : 1);
  }
  if (best)
    addOpened();
  if (best)
    addMessages(*best);
  return std::exchange(best, std::nullopt);
}

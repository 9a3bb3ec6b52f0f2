//===- FastestPlan.cpp - The fastest plan within a budget -------------------------------------===//

#include "passes/planning/Planner.h"

#include "passes/memory/MemoryAnalysis.h"

#include <numeric>

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

/// Plans a combination within the budget. The outcome is `Hopeless` if there is no plan, or if no
/// technique of the last stage can make it fit.
Planner::Outcome Planner::tryOut(const Choice &choice) {
  std::optional<Plan> found = plan(choice, given.memory);
  finishPart();
  if (!found)
    return Outcome::Hopeless;
  const Outcome outcome = found->needs.peak <= *given.memory && !found->isTooMuch ? Outcome::Fits
                          : found->isTooMuch ? Outcome::Hopeless
                                             : Outcome::Exceeds;
  if (!best || isBetter(*found, *best))
    best = std::move(found);
  return outcome;
}

/// Searches the count of a technique: larger counts need less memory and, beyond the first that
/// fits, may still be faster, since less is recomputed.
void Planner::tryCounts(const Choice &choice, size_t technique) {
  const size_t counts = changes[technique].size();
  auto tryWith = [&](size_t count) {
    Choice all = choice;
    all.picks[technique] = count;
    return !isTimeUp() && tryOut(all) == Outcome::Fits;
  };
  if (counts == 0 || !tryWith(counts - 1))
    return;
  size_t tooFew = 0, enough = counts - 1; // All counts below `tooFew` exceed the budget.
  while (tooFew < enough) {
    const size_t middle = (tooFew + enough) / 2;
    if (tryWith(middle))
      enough = middle;
    else
      tooFew = middle + 1;
  }
  for (size_t count = enough + 1; count + 1 < counts; ++count) {
    const double before = best->needs.seconds;
    if (!tryWith(count) || best->needs.seconds >= before)
      return;
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

/// Whether two combinations make the same changes of the last stage, which the cost without a
/// budget does not show.
static bool areEqualLate(const Planner::Choice &a, const Planner::Choice &b) {
  return llvm::all_of(llvm::zip_equal(getTechniques(), a.picks, b.picks), [](const auto &each) {
    const auto &[kind, first, second] = each;
    return kind.stage < Stage::Allocated || first == second;
  });
}

std::optional<Plan> Planner::findFastest() {
  const std::vector<Choice> combinations = findCombinations();
  start(2 * combinations.size());
  std::vector<Bounded> bounded;
  for (auto [number, choice] : llvm::enumerate(combinations)) {
    if (isTimeUp() && !bounded.empty())
      break;
    if (std::optional<PlanNeeds> needs = bound(choice))
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
    const bool isFound = best && best->needs.peak <= *given.memory && !best->isTooMuch;
    if ((isFound && best->needs.seconds <= each.needs.seconds) || (best && isTimeUp()))
      break;
    // What is slower and needs more memory without a budget would have to save more with one, by
    // the same techniques.
    const bool isDominated =
        !offloads && llvm::any_of(ArrayRef(bounded).take_front(i), [&](const Bounded &known) {
          return known.needs.peak <= each.needs.peak && areEqualLate(known.choice, each.choice);
        });
    if (isDominated || tryOut(each.choice) == Outcome::Fits)
      continue;
    for (auto [technique, kind] : llvm::enumerate(getTechniques()))
      if (isPermitted(kind) && changes[technique].size() > 1)
        tryCounts(each.choice, technique);
  }
  if (best)
    addMessages(*best);
  return std::exchange(best, std::nullopt);
}

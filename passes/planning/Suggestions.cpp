//===- Suggestions.cpp - Flags that may meet the budget ---------------------------------------===//

#include "passes/memory/MemoryPlan.h"
#include "passes/planning/Combinations.h"
#include "passes/planning/PlanQueries.h"

using namespace mlir;
using namespace mtc;

/// Returns a lower bound on the peak with changes that leave at least the given parts.
static int64_t boundWith(const MinParts &min, const MemoryPlan &plan) {
  const MemoryPlan::Categories &parts = plan.categories;
  const int64_t variables = parts.parameters + parts.gradients + parts.optimizer;
  // The scratch of library calls, which is a part of the working set, may shrink more than values.
  const auto workingSet = 0.5 * static_cast<double>(std::max<int64_t>(plan.floor - variables, 0));
  return static_cast<int64_t>(min.parameters * static_cast<double>(parts.parameters) +
                              min.gradients * static_cast<double>(parts.gradients) +
                              min.optimizer * static_cast<double>(parts.optimizer) +
                              min.workingSet * workingSet);
}

Suggestions PlanQueries::findSuggestions(const MemoryPlan &plan) {
  struct Candidate {
    const PlanChange *change;
    Effect effect;
    bool mayMeet;
    std::optional<PlanCost> cost = std::nullopt;
  };
  const Combinations combinations(given, planner.getContext());
  std::vector<Candidate> candidates;
  MinParts minOfAll{1, 1, 1, 1}, minOfDims = minOfAll;
  for (Effect effect : {Effect::None, Effect::Order, Effect::Numerics})
    for (Permission permission : {Permission::Budget, Permission::Allow, Permission::Flag})
      for (auto [technique, own] : llvm::zip_equal(getTechniques(), combinations.getChanges()))
        if (technique.effect == effect && technique.permission == permission && !own.empty()) {
          candidates.push_back(
              {&own.front(), effect, boundWith(own.front().minParts, plan) <= *given.fit.memory});
          PlanSettings changed = given;
          own.back().apply(changed); // The strongest change.
          if (changed.dims == given.dims)
            minOfAll = minOfAll.with(own.back().minParts);
          else
            minOfDims = minOfDims.orElse(own.back().minParts);
        }
  if (boundWith(minOfAll.with(minOfDims), plan) > *given.fit.memory)
    return {{}, /*isHopeless=*/true};
  planner.getProgress().start(candidates.size() + 1);
  bool isMet = false;
  auto planThose = [&](bool thatMayMeet) {
    SmallVector<Candidate *> those;
    std::vector<PlanSettings> settings;
    for (Candidate &each : candidates)
      if (each.mayMeet == thatMayMeet) {
        those.push_back(&each);
        each.change->apply(settings.emplace_back(given));
      }
    for (auto [each, cost] : llvm::zip_equal(those, planner.estimateEach(settings))) {
      each->cost = cost;
      isMet |= cost && cost->peak <= *given.fit.memory;
    }
  };
  planThose(/*thatMayMeet=*/true);
  if (!isMet)
    planThose(/*thatMayMeet=*/false);
  Suggestions suggestions;
  PlanSettings all = given;
  Suggestion together{"", Effect::None, 0};
  for (const Candidate &each : candidates) {
    if (!each.cost || each.cost->peak >= plan.counted)
      continue;
    suggestions.known.push_back({each.change->flags, each.effect, each.cost->peak});
    PlanSettings changed = given;
    each.change->apply(changed);
    if (changed.dims != given.dims && all.dims != given.dims)
      continue; // One change of a dimension excludes the others.
    each.change->apply(all);
    together.flags += (together.flags.empty() ? "" : " ") + each.change->flags;
    together.effect = std::max(together.effect, each.effect);
  }
  if (!isMet && suggestions.known.size() > 1)
    if (std::optional<PlanCost> cost = planner.estimateEach(all).front()) {
      together.peak = cost->peak;
      suggestions.known.push_back(std::move(together));
    }
  return suggestions;
}

//===- Exploration.cpp - Curve, worth of techniques, and remedies -----------------------------===//

#include "passes/memory/MemoryPlan.h"
#include "passes/planning/Planner.h"

using namespace mlir;
using namespace mtc;

std::vector<CurvePoint> Planner::findCurve() {
  constexpr int64_t intervals = 8;
  start(intervals + 1);
  PlanSettings settings = given;
  if (settings.fit.recompute.recompute != RecomputeMode::None)
    settings.fit.recompute.recompute = RecomputeMode::Auto;
  std::vector<CurvePoint> curve;
  auto add = [&](ArrayRef<std::optional<int64_t>> budgets) {
    std::vector<PlanSettings> all(budgets.size(), settings);
    for (auto [each, budget] : llvm::zip_equal(all, budgets))
      each.fit.memory = budget;
    for (const std::optional<PlanNeeds> &needs : planAll(all))
      if (needs)
        curve.push_back({needs->peak, needs->seconds});
  };
  add({int64_t{1}, std::nullopt});
  if (curve.size() < 2)
    return {};
  const int64_t least = curve[0].peak, most = curve[1].peak;
  std::vector<std::optional<int64_t>> budgets;
  for (int64_t i = 1; i < intervals; ++i)
    budgets.push_back(least + (most - least) * i / intervals);
  add(budgets);
  llvm::sort(curve, [](const CurvePoint &a, const CurvePoint &b) {
    return std::pair(-a.peak, a.seconds) < std::pair(-b.peak, b.seconds);
  });
  // Remove dominated points: as slow as a plan with a lower peak, or slower.
  std::vector<CurvePoint> choices;
  for (const CurvePoint &point : curve) {
    while (!choices.empty() && choices.back().seconds >= point.seconds)
      choices.pop_back();
    if (choices.empty() || choices.back().peak != point.peak)
      choices.push_back(point);
  }
  return choices;
}

std::optional<size_t> mtc::findKnee(ArrayRef<CurvePoint> curve) {
  if (curve.size() < 3)
    return std::nullopt;
  const CurvePoint &first = curve.front(), &last = curve.back();
  const double bytes = static_cast<double>(first.peak - last.peak);
  const double seconds = last.seconds - first.seconds;
  if (bytes <= 0 || seconds <= 0)
    return std::nullopt;
  std::optional<size_t> knee;
  double farthest = 0;
  for (auto [i, point] : llvm::enumerate(curve)) {
    const double below = static_cast<double>(first.peak - point.peak) / bytes -
                         (point.seconds - first.seconds) / seconds;
    if (below > farthest) {
      farthest = below;
      knee = i;
    }
  }
  return knee;
}

std::vector<Worth> Planner::measureTechniques() {
  // Plans with and without each.
  struct Pair {
    StringRef name;
    size_t with, without;
  };
  std::vector<Pair> pairs;
  std::vector<PlanSettings> all = {given, given};
  PlanSettings &plain = all[1];
  plain.fit.recompute.recompute = RecomputeMode::None;
  plain.fit.memory.reset();
  for (const Technique &technique : getTechniques())
    if (technique.disable && technique.make) {
      pairs.push_back({technique.name, 0, all.size()});
      all.push_back(given);
      technique.disable(all.back());
    }
  for (const OptionalPass &pass : getOptionalPasses())
    if (!given.passes.skips(pass.name)) {
      pairs.push_back({pass.name, 1, all.size()});
      all.push_back(all[1]);
      all.back().passes.skipped.push_back(pass.name);
    }
  start(all.size());
  const std::vector<std::optional<PlanNeeds>> needs = planAll(all);
  std::vector<Worth> worths;
  for (const Pair &pair : pairs) {
    const std::optional<PlanNeeds> &with = needs[pair.with], &without = needs[pair.without];
    if (!with || !without)
      continue;
    Worth worth{pair.name.str(), without->peak - with->peak, with->flops - without->flops,
                with->seconds - without->seconds};
    if (worth.savesBytes || worth.costsFlops || worth.costsSeconds != 0)
      worths.push_back(std::move(worth));
  }
  llvm::sort(worths, [](const Worth &a, const Worth &b) {
    return std::tie(b.savesBytes, a.name) < std::tie(a.savesBytes, b.name);
  });
  return worths;
}

/// Returns a lower bound on the peak with changes that leave at least the given parts.
static int64_t boundWith(const MinParts &least, const MemoryPlan &plan) {
  const MemoryPlan::Categories &parts = plan.categories;
  const int64_t variables = parts.parameters + parts.gradients + parts.optimizer;
  // The scratch of library calls, which is a part of the working set, may shrink more than values.
  const auto workingSet = 0.5 * static_cast<double>(std::max<int64_t>(plan.floor - variables, 0));
  return static_cast<int64_t>(least.parameters * static_cast<double>(parts.parameters) +
                              least.gradients * static_cast<double>(parts.gradients) +
                              least.optimizer * static_cast<double>(parts.optimizer) +
                              least.workingSet * workingSet);
}

Remedies Planner::findRemedies(const MemoryPlan &plan) {
  struct Open {
    const PlanChange *change;
    Effect effect;
    bool mayMeet;
    std::optional<PlanNeeds> needs = std::nullopt;
  };
  std::vector<Open> open;
  MinParts minOfAll{1, 1, 1, 1}, minOfDims = minOfAll;
  for (Effect effect : {Effect::None, Effect::Order, Effect::Numerics})
    for (Permission permission : {Permission::Budget, Permission::Allow, Permission::Flag})
      for (auto [technique, own] : llvm::zip_equal(getTechniques(), changes))
        if (technique.effect == effect && technique.permission == permission && !own.empty()) {
          open.push_back(
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
  start(open.size() + 1);
  bool isMet = false;
  auto planThose = [&](bool thatMayMeet) {
    SmallVector<Open *> those;
    std::vector<PlanSettings> settings;
    for (Open &each : open)
      if (each.mayMeet == thatMayMeet) {
        those.push_back(&each);
        each.change->apply(settings.emplace_back(given));
      }
    for (auto [each, needs] : llvm::zip_equal(those, planAll(settings))) {
      each->needs = needs;
      isMet |= needs && needs->peak <= *given.fit.memory;
    }
  };
  planThose(/*thatMayMeet=*/true);
  if (!isMet)
    planThose(/*thatMayMeet=*/false);
  Remedies remedies;
  PlanSettings all = given;
  Remedy together{"", Effect::None, 0};
  for (const Open &each : open) {
    if (!each.needs || each.needs->peak >= plan.counted)
      continue;
    remedies.known.push_back({each.change->flags, each.effect, each.needs->peak});
    PlanSettings changed = given;
    each.change->apply(changed);
    if (changed.dims != given.dims && all.dims != given.dims)
      continue; // One change of a dimension excludes the others.
    each.change->apply(all);
    together.flags += (together.flags.empty() ? "" : " ") + each.change->flags;
    together.effect = std::max(together.effect, each.effect);
  }
  if (!isMet && remedies.known.size() > 1)
    if (std::optional<PlanNeeds> needs = planAll(all).front()) {
      together.peak = needs->peak;
      remedies.known.push_back(std::move(together));
    }
  return remedies;
}

//===- PlanQueries.cpp - Budget curve and benefits of techniques ------------------------------===//

#include "passes/planning/PlanQueries.h"

using namespace mlir;
using namespace mtc;

std::vector<CurvePoint> PlanQueries::findCurve() {
  constexpr int64_t intervals = 8;
  planner.getProgress().start(intervals + 1);
  PlanSettings settings = given;
  if (settings.fit.recompute.recompute != RecomputeMode::None)
    settings.fit.recompute.recompute = RecomputeMode::Auto;
  std::vector<CurvePoint> curve;
  auto add = [&](ArrayRef<std::optional<int64_t>> budgets) {
    std::vector<PlanSettings> all(budgets.size(), settings);
    for (auto [each, budget] : llvm::zip_equal(all, budgets))
      each.fit.memory = budget;
    for (const std::optional<PlanCost> &cost : planner.estimateEach(all))
      if (cost)
        curve.push_back({cost->peak, cost->seconds});
  };
  add({int64_t{1}, std::nullopt});
  if (curve.size() < 2)
    return {};
  const int64_t minPeak = curve[0].peak, maxPeak = curve[1].peak;
  std::vector<std::optional<int64_t>> budgets;
  for (int64_t i = 1; i < intervals; ++i)
    budgets.push_back(minPeak + (maxPeak - minPeak) * i / intervals);
  add(budgets);
  llvm::sort(curve, [](const CurvePoint &a, const CurvePoint &b) {
    return std::pair(-a.peak, a.seconds) < std::pair(-b.peak, b.seconds);
  });
  // A point is dominated if another plan has a lower peak and is at least as fast.
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

std::vector<Benefit> PlanQueries::measureBenefits() {
  // For each technique, there is a plan with it and one without it.
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
  planner.getProgress().start(all.size());
  const std::vector<std::optional<PlanCost>> costs = planner.estimateEach(all);
  std::vector<Benefit> benefits;
  for (const Pair &pair : pairs) {
    const std::optional<PlanCost> &with = costs[pair.with], &without = costs[pair.without];
    if (!with || !without)
      continue;
    Benefit benefit{pair.name.str(), without->peak - with->peak, with->flops - without->flops,
                    with->seconds - without->seconds};
    if (benefit.savesBytes || benefit.costsFlops || benefit.costsSeconds != 0)
      benefits.push_back(std::move(benefit));
  }
  llvm::sort(benefits, [](const Benefit &a, const Benefit &b) {
    return std::tie(b.savesBytes, a.name) < std::tie(a.savesBytes, b.name);
  });
  return benefits;
}

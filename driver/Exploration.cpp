//===- Exploration.cpp - Alternative memory plans ---------------------------------------------===//

#include "driver/Exploration.h"
#include "driver/ProgressLine.h"

#include "passes/cost/StepCost.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/pipelines/Pipelines.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Peak memory and step cost of an allocated module.
struct Needs {
  explicit Needs(ModuleOp allocated)
      : peak(MemoryPlan::ofAllocated(allocated).peak), step(StepCost(allocated).ofStep()) {}

  int64_t peak;
  TimedCost step;
};

std::optional<Needs> planAgain(Compilation &compilation, const Options &options, Stage changed) {
  FailureOr<OwningOpRef<ModuleOp>> allocated = compilation.lowerAgain(options, changed);
  if (failed(allocated))
    return std::nullopt;
  return Needs(**allocated);
}

/// Returns the options of the plan without recomputation.
Options withoutRecomputation(const Options &options) {
  Options kept = options;
  kept.recompute.recompute = "none";
  kept.memory.reset();
  return kept;
}

void addTechnique(std::vector<Technique> &techniques, StringRef name, const Needs &with,
                  const Needs &without) {
  Technique technique{name.str(), without.peak - with.peak, with.step.flops - without.step.flops,
                      with.step.seconds() - without.step.seconds()};
  if (technique.savesBytes || technique.costsFlops || technique.costsSeconds != 0)
    techniques.push_back(std::move(technique));
}

} // namespace

std::vector<Technique> mtc::tool::measureTechniques(const Options &options,
                                                    Compilation &compilation) {
  ProgressLine line("measuring techniques", getOptionalPasses().size());
  std::vector<Technique> techniques;
  const Options kept = withoutRecomputation(options);
  std::optional<Needs> base = planAgain(compilation, kept, Stage::Allocated);
  if (!base)
    return {};
  addTechnique(techniques, "recompute", Needs(compilation.getModule()), *base);
  for (const OptionalPass &pass : getOptionalPasses()) {
    line.next();
    if (options.passes.skips(pass.name))
      continue;
    Options without = kept;
    without.passes.skipped.push_back(pass.name);
    if (std::optional<Needs> needs = planAgain(compilation, without, pass.stage))
      addTechnique(techniques, pass.name, *base, *needs);
  }
  llvm::sort(techniques, [](const Technique &a, const Technique &b) {
    return std::tie(b.savesBytes, a.name) < std::tie(a.savesBytes, b.name);
  });
  return techniques;
}

std::vector<CurvePoint> mtc::tool::findCurve(const Options &options, Compilation &compilation) {
  constexpr int64_t intervals = 8;
  Options budgeted = options;
  if (budgeted.recompute.recompute != "none")
    budgeted.recompute.recompute = "auto";
  std::vector<CurvePoint> curve;
  ProgressLine line("planning for several budgets", intervals + 1);
  auto plan = [&](std::optional<int64_t> budget) {
    line.next();
    budgeted.memory = budget;
    if (std::optional<Needs> needs = planAgain(compilation, budgeted, Stage::Allocated))
      curve.push_back({needs->peak, needs->step.seconds()});
    return !curve.empty();
  };
  if (!plan(1) || !plan(std::nullopt))
    return {};
  const int64_t least = curve[0].peak, most = curve[1].peak;
  for (int64_t i = 1; i < intervals; ++i)
    plan(least + (most - least) * i / intervals);
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

std::optional<size_t> mtc::tool::findKnee(ArrayRef<CurvePoint> curve) {
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

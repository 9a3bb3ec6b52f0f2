//===- Technique.cpp - Recomputation of activations -------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeRecompute();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeRecompute() {
  TechniqueKind kind{"recompute", "recomputation of activations", Stage::Allocated};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.recompute.recompute != RecomputeMode::Auto)
      changes.push_back({"--recompute auto",
                         [](PlanSettings &all) { all.recompute.recompute = RecomputeMode::Auto; },
                         {1, 1, 1, 1}});
    return changes;
  };
  kind.disable = [](PlanSettings &all) { all.recompute.recompute = RecomputeMode::None; };
  kind.make = [](const Goal &goal, OperationTimes &times,
                 const FitOptions &options) -> std::unique_ptr<Technique> {
    if (options.recompute.recompute != RecomputeMode::Auto)
      return nullptr;
    return std::make_unique<Recomputation>(goal, times);
  };
  return kind;
}

//===- Recompute.cpp - Recomputation of activations -------------------------------------------===//

#include "passes/planning/Technique.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addRecomputeTechniques(std::vector<Technique> &techniques) {
  Technique technique{"recompute", "recomputation of activations", Stage::Allocated};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.fit.recompute.recompute != RecomputeMode::Auto)
      changes.push_back(
          {"--recompute auto",
           [](PlanSettings &all) { all.fit.recompute.recompute = RecomputeMode::Auto; },
           {1, 1, 1, 1}});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.fit.recompute.recompute = RecomputeMode::None; };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.recompute.recompute != RecomputeMode::Auto)
      return nullptr;
    return std::make_unique<Recomputation>(budget, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

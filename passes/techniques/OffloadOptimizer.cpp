//===- OffloadOptimizer.cpp - Optimizer state in another memory -------------------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addOffloadOptimizerTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-optimizer", "optimizer state in host memory or on disk",
                      Stage::Allocated, Effect::None, Permission::Flag};
  // There is one change for all kinds of tensors, and the search offloads each kind as needed.
  technique.propose = [](const PlanSettings &settings, const PlanContext &context) {
    std::vector<PlanChange> changes;
    if (settings.fit.offload.getUses(context.offloadSpace).isOff())
      changes.push_back({"--offload auto",
                         [](PlanSettings &all) { all.fit.offload.offload = {"auto"}; },
                         {0, 0, 0, 1}});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.fit.offload.disable(OffloadKind::Optimizer); };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[OffloadKind::Optimizer] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(budget, times, OffloadKind::Optimizer,
                                             options.offload.getWindow(options.memory));
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

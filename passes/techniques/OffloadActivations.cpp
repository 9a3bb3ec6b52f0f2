//===- OffloadActivations.cpp - Activations in another memory ---------------------------------===//

#include "passes/offload/ActivationOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addOffloadActivationsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-activations", "activations in host memory or on disk",
                      Stage::Allocated, Effect::None, Permission::Flag};
  technique.disable = [](PlanSettings &all) { all.fit.offload.disable(OffloadKind::Activations); };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[OffloadKind::Activations] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<ActivationOffload>(budget, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

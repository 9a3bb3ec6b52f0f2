//===- OffloadGradients.cpp - Gradients in another memory -------------------------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addOffloadGradientsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-gradients", "gradients in host memory or on disk", Stage::Allocated,
                      Effect::None, Permission::Flag};
  technique.disable = [](PlanSettings &all) { all.fit.offload.disable(OffloadKind::Gradients); };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[OffloadKind::Gradients] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(budget, times, OffloadKind::Gradients,
                                             options.offload.getWindow(options.memory));
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

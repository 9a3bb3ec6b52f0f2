//===- OffloadParameters.cpp - Parameters in another memory -----------------------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addOffloadParametersTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-parameters", "parameters in host memory or on disk",
                      Stage::Allocated, Effect::None, Permission::Flag};
  technique.disable = [](PlanSettings &all) { all.fit.offload.disable(OffloadKind::Parameters); };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[OffloadKind::Parameters] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(budget, times, OffloadKind::Parameters,
                                             options.offload.getWindow(options.memory));
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

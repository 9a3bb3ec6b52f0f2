//===- OffloadUpdate.cpp - Update of offloaded optimizer state by the CPU ---------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addOffloadUpdateTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-update",
                      "optimizer state in host memory, updated by the CPU while the GPU computes",
                      Stage::Allocated, Effect::None, Permission::Flag};
  technique.disable = [](PlanSettings &all) { all.fit.offload.disable(OffloadKind::Update); };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[OffloadKind::Update] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(budget, times, OffloadKind::Update,
                                             options.offload.getWindow(options.memory));
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- OffloadActivations.cpp - Activations in another memory ---------------------------------===//

#include "passes/offload/ActivationOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc {
void addOffloadActivationsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"offload-activations", "activations in host memory or on disk",
                      Stage::Allocated, Effect::None, Permission::Flag};
  technique.disable = [](PlanSettings &all) { all.offload.disable(OffloadKind::Activations); };
  technique.make = [](const Goal &goal, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(goal.getOffloadSpace())[OffloadKind::Activations] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<ActivationOffload>(goal, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

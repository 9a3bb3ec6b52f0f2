//===- Technique.cpp - Activations in another memory ------------------------------------------===//

#include "passes/offload/ActivationOffload.h"
#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeOffloadActivations();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeOffloadActivations() {
  TechniqueKind kind{"offload-activations", "activations in host memory or on disk",
                     Stage::Allocated, Effect::None, Permission::Flag};
  kind.disable = [](PlanSettings &all) { all.offload.disable(OffloadKind::Activations); };
  kind.make = [](const Goal &goal, OperationTimes &times,
                 const FitOptions &options) -> std::unique_ptr<Technique> {
    if (options.offload.getUses(goal.getOffloadSpace())[OffloadKind::Activations] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<ActivationOffload>(goal, times);
  };
  return kind;
}

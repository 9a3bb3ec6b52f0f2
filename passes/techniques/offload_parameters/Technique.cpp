//===- Technique.cpp - Parameters in another memory -------------------------------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeOffloadParameters();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeOffloadParameters() {
  TechniqueKind kind{"offload-parameters", "parameters in host memory or on disk", Stage::Allocated,
                     Effect::None, Permission::Flag};
  kind.disable = [](PlanSettings &all) { all.offload.disable(OffloadKind::Parameters); };
  kind.make = [](const Goal &goal, OperationTimes &times,
                 const FitOptions &options) -> std::unique_ptr<Technique> {
    if (options.offload.getUses(goal.getOffloadSpace())[OffloadKind::Parameters] !=
        OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(goal, times, OffloadKind::Parameters,
                                             options.offload.window);
  };
  return kind;
}

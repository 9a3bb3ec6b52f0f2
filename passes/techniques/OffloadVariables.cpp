//===- OffloadVariables.cpp - Variables in another memory -------------------------------------===//

#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

/// Returns the technique that offloads the variables of a kind as needed.
static Technique offloadTechnique(OffloadKind kind, const std::string &name,
                                  const std::string &summary) {
  Technique technique{name, summary, Stage::Allocated, Effect::None, Permission::Flag};
  technique.disable = [kind](PlanSettings &all) { all.fit.offload.disable(kind); };
  technique.make = [kind](const FunctionBudget &budget, OperationTimes &times,
                          const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace())[kind] != OffloadUse::Automatic)
      return nullptr;
    return std::make_unique<VariableOffload>(budget, times, kind,
                                             options.offload.getWindow(options.memory));
  };
  return technique;
}

namespace mtc {
void addOffloadVariablesTechniques(std::vector<Technique> &techniques) {
  techniques.push_back(offloadTechnique(OffloadKind::Gradients, "offload-gradients",
                                        "gradients in host memory or on disk"));
  techniques.push_back(offloadTechnique(OffloadKind::Optimizer, "offload-optimizer",
                                        "optimizer state in host memory or on disk"));
  // There is one change for all kinds of tensors, and the search offloads each kind as needed.
  techniques.back().propose = [](const PlanSettings &settings, const PlanContext &context) {
    std::vector<PlanChange> changes;
    if (settings.fit.offload.getUses(context.offloadSpace).isOff())
      changes.push_back({"--offload auto",
                         [](PlanSettings &all) { all.fit.offload.offload = {"auto"}; },
                         {0, 0, 0, 1}});
    return changes;
  };
  techniques.push_back(offloadTechnique(OffloadKind::Parameters, "offload-parameters",
                                        "parameters in host memory or on disk"));
  techniques.push_back(
      offloadTechnique(OffloadKind::Update, "offload-update",
                       "optimizer state in host memory, updated by the CPU while the GPU "
                       "computes"));
}
} // namespace mtc

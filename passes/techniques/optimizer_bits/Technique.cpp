//===- Technique.cpp - Quantized optimizer state ----------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeOptimizerBits();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeOptimizerBits() {
  TechniqueKind kind{"optimizer-bits", "8-bit optimizer state", Stage::Training, Effect::Numerics,
                     Permission::Allow};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.training.optimizer.optimizerBits == 32)
      changes.push_back({"--optimizer-bits 8",
                         [](PlanSettings &all) { all.training.optimizer.optimizerBits = 8; },
                         {1, 1, 0.25, 1}});
    return changes;
  };
  return kind;
}

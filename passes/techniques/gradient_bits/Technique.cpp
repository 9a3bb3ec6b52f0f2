//===- Technique.cpp - 16-bit accumulated gradients -------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeGradientBits();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeGradientBits() {
  TechniqueKind kind{"gradient-bits", "16-bit accumulated gradients", Stage::Training,
                     Effect::Numerics, Permission::Allow};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    // Without accumulation, most gradients are not stored in variables.
    if (settings.training.loss.microSteps > 1 && settings.training.sharding.ranks == 0 &&
        settings.training.gradientStorage.bits == 32)
      changes.push_back({"--gradient-bits 16",
                         [](PlanSettings &all) { all.training.gradientStorage.bits = 16; },
                         {1, 0.5, 1, 0.5}});
    return changes;
  };
  return kind;
}

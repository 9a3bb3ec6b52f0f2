//===- GradientBits.cpp - 16-bit accumulated gradients ----------------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addGradientBitsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"gradient-bits", "16-bit accumulated gradients", Stage::Training,
                      Effect::Numerics, Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    // Without accumulation, most gradients are not stored in variables.
    if (settings.training.loss.microSteps > 1 && !settings.training.sharding.ranks &&
        settings.training.gradientStorage.bits == 32)
      changes.push_back({"--gradient-bits 16",
                         [](PlanSettings &all) { all.training.gradientStorage.bits = 16; },
                         {1, 0.5, 1, 0.5}});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

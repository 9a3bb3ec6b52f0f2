//===- OptimizerBits.cpp - Quantized optimizer state ------------------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addOptimizerBitsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"optimizer-bits", "8-bit optimizer state", Stage::Training, Effect::Numerics,
                      Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.training.optimizer.optimizerBits == 32)
      changes.push_back({"--optimizer-bits 8",
                         [](PlanSettings &all) { all.training.optimizer.optimizerBits = 8; },
                         {1, 1, 0.25, 1}});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

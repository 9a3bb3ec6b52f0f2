//===- Precision.cpp - Values in bf16 ---------------------------------------------------------===//

#include "ir/Precision.h"
#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addPrecisionTechniques(std::vector<Technique> &techniques) {
  Technique technique{"precision", "bf16 instead of f32", Stage::Forward, Effect::Numerics,
                      Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (!storesNarrow(settings.precision))
      changes.push_back({"--precision bf16",
                         [](PlanSettings &all) { all.precision = Precision::BF16; },
                         {0.5, 0.5, 1, 0.5}});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

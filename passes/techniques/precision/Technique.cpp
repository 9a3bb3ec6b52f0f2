//===- Technique.cpp - 16-bit values ----------------------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makePrecision();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makePrecision() {
  TechniqueKind kind{"precision", "bf16 instead of f32", Stage::Forward, Effect::Numerics,
                     Permission::Allow};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.precision == Precision::F32 || settings.precision == Precision::TF32)
      changes.push_back({"--precision bf16",
                         [](PlanSettings &all) { all.precision = Precision::BF16; },
                         {0.5, 0.5, 1, 0.5}});
    return changes;
  };
  return kind;
}

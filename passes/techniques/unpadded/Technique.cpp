//===- Technique.cpp - Contractions without padding -------------------------------------------===//

#include "passes/planning/TechniqueKind.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeUnpadded();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeUnpadded() {
  TechniqueKind kind{"unpadded", "contractions without padding", Stage::Kernels, Effect::Order};
  kind.propose = [](const PlanSettings &settings, const PlanContext &context) {
    std::vector<PlanChange> changes;
    // Only libraries of GPUs are faster with padding.
    if (context.offloadSpace == MemorySpace::PinnedHost &&
        !settings.passes.skips("mtc-pad-contractions"))
      changes.push_back(
          {"--skip-pass mtc-pad-contractions",
           [](PlanSettings &all) { all.passes.skipped.push_back("mtc-pad-contractions"); },
           {1, 1, 1, 0.5}});
    return changes;
  };
  kind.isUndone = true;
  return kind;
}

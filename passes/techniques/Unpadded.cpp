//===- Unpadded.cpp - Contractions without padding --------------------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addUnpaddedTechniques(std::vector<Technique> &techniques) {
  Technique technique{"unpadded", "contractions without padding", Stage::Kernels, Effect::Order};
  technique.propose = [](const PlanSettings &settings, const PlanContext &context) {
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
  technique.isUndone = true;
  techniques.push_back(std::move(technique));
}
} // namespace mtc

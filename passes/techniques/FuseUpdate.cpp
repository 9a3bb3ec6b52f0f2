//===- FuseUpdate.cpp - Updates in the backward pass ------------------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addFuseUpdateTechniques(std::vector<Technique> &techniques) {
  Technique technique{"fuse-update", "updates as soon as a gradient exists", Stage::Kernels};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.passes.skips("mtc-fuse-update"))
      changes.push_back(
          {"without --skip-pass mtc-fuse-update",
           [](PlanSettings &all) { llvm::erase(all.passes.skipped, "mtc-fuse-update"); },
           {1, 0, 1, 0}});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.passes.skipped.push_back("mtc-fuse-update"); };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- Technique.cpp - Updates in the backward pass -------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeFuseUpdate();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeFuseUpdate() {
  TechniqueKind kind{"fuse-update", "updates as soon as a gradient exists", Stage::Kernels};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.passes.skips("mtc-fuse-update"))
      changes.push_back(
          {"without --skip-pass mtc-fuse-update",
           [](PlanSettings &all) { llvm::erase(all.passes.skipped, "mtc-fuse-update"); },
           {1, 0, 1, 0}});
    return changes;
  };
  kind.disable = [](PlanSettings &all) { all.passes.skipped.push_back("mtc-fuse-update"); };
  return kind;
}

//===- PlanSettings.cpp - Settings that decide how a program uses memory ----------------------===//

#include "passes/planning/PlanSettings.h"

#include "ir/Precision.h"

using namespace mtc;

void PlanSettings::checkLossScaling(RefuseOption refuse) const {
  const LossScalingOptions &scaling = training.lossScaling;
  const bool isScaled =
      scaling.scale.empty() ? needsLossScaling(precision) : scaling.scale != "none";
  if (scaling.window && !isScaled)
    refuse("loss-scale-window", "the loss is not scaled; use it with --loss-scale");
}

void PlanSettings::checkOffload(MemorySpace space, bool hasBudget, RefuseOption refuse) const {
  const OffloadOptions &offload = fit.offload;
  if (space == MemorySpace::Disk && offload.getUses(space)[OffloadKind::Update] == OffloadUse::On)
    refuse("offload", "update: the CPU computes everything; use it with --target cuda");
  if (offload.window && (offload.getUses(space).isOff() || (!offload.isSet() && !hasBudget)))
    refuse("offload-window", "nothing is offloaded; use it with --offload");
}

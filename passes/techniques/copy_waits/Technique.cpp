//===- Technique.cpp - Copies that wait instead of reserving memory ---------------------------===//

#include "passes/offload/CopyTightening.h"
#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeCopyWaits();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeCopyWaits() {
  TechniqueKind kind{"copy-waits", "copies that wait instead of reserving memory", Stage::Allocated,
                     Effect::None, Permission::Flag};
  // Explicit offloading reserves memory for copies, too.
  kind.make = [](const Goal &goal, OperationTimes &times,
                 const FitOptions &options) -> std::unique_ptr<Technique> {
    if (options.offload.getUses(goal.getOffloadSpace()).isOff())
      return nullptr;
    return std::make_unique<CopyTightening>(goal, times);
  };
  return kind;
}

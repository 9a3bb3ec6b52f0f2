//===- CopyWaits.cpp - Copies that wait instead of reserving memory ---------------------------===//

#include "passes/offload/CopyTightening.h"
#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"

using namespace mtc;

namespace mtc {
void addCopyWaitsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"copy-waits", "copies that wait instead of reserving memory",
                      Stage::Allocated, Effect::None, Permission::Flag};
  // Explicit offloading reserves memory for copies, too.
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.offload.getUses(budget.getOffloadSpace()).isOff())
      return nullptr;
    return std::make_unique<CopyTightening>(budget, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

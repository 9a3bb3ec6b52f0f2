//===- Order.cpp - Order of operations --------------------------------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addOrderTechniques(std::vector<Technique> &techniques) {
  Technique technique{"order", "operations in an order that needs less memory", Stage::Allocated};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.passes.skips("mtc-reorder"))
      changes.push_back({"without --skip-pass mtc-reorder",
                         [](PlanSettings &all) { llvm::erase(all.passes.skipped, "mtc-reorder"); },
                         {1, 1, 1, 1}});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.passes.skipped.push_back("mtc-reorder"); };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

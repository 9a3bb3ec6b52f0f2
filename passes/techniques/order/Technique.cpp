//===- Technique.cpp - Order of operations ----------------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeOrder();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeOrder() {
  TechniqueKind kind{"order", "operations in an order that needs less memory", Stage::Allocated};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.passes.skips("mtc-reorder"))
      changes.push_back({"without --skip-pass mtc-reorder",
                         [](PlanSettings &all) { llvm::erase(all.passes.skipped, "mtc-reorder"); },
                         {1, 1, 1, 1}});
    return changes;
  };
  kind.disable = [](PlanSettings &all) { all.passes.skipped.push_back("mtc-reorder"); };
  return kind;
}

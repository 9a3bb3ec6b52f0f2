//===- Technique.cpp - Smaller batches --------------------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeBatch();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeBatch() {
  TechniqueKind kind{"batch", "a smaller batch", Stage::Imported, Effect::Numerics,
                     Permission::Flag};
  kind.propose = [](const PlanSettings &, const PlanContext &context) {
    std::vector<PlanChange> changes;
    for (int64_t size = context.batch ? context.batch->size / 2 : 0; size > 0; size /= 2)
      changes.push_back(
          {llvm::formatv("--dim {0}={1}", context.batch->name, size).str(),
           [=, name = context.batch->name](PlanSettings &all) { all.dims[name] = size; },
           {1, 1, 1, static_cast<double>(size) / static_cast<double>(context.batch->size)}});
    return changes;
  };
  return kind;
}

//===- Batch.cpp - Smaller batches ------------------------------------------------------------===//

#include "passes/planning/Technique.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mtc;

namespace mtc {
void addBatchTechniques(std::vector<Technique> &techniques) {
  Technique technique{"batch", "a smaller batch", Stage::Imported, Effect::Numerics,
                      Permission::Flag};
  technique.propose = [](const PlanSettings &, const PlanContext &context) {
    std::vector<PlanChange> changes;
    for (int64_t size = context.batch ? context.batch->size / 2 : 0; size > 0; size /= 2)
      changes.push_back(
          {llvm::formatv("--dim {0}={1}", context.batch->name, size).str(),
           [=, name = context.batch->name](PlanSettings &all) { all.dims[name] = size; },
           {1, 1, 1, static_cast<double>(size) / static_cast<double>(context.batch->size)}});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

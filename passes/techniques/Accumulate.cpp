//===- Accumulate.cpp - Gradient accumulation over micro-batches ------------------------------===//

#include "passes/planning/Technique.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mtc;

namespace mtc {
void addAccumulateTechniques(std::vector<Technique> &techniques) {
  Technique technique{"accumulate", "gradient accumulation over micro-batches", Stage::Imported,
                      Effect::Order, Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &context) {
    std::vector<PlanChange> changes;
    for (int64_t parts = 2; context.batch && context.batch->size % parts == 0; parts *= 2) {
      const int64_t part = context.batch->size / parts,
                    count = settings.training.loss.microSteps * parts;
      changes.push_back(
          {llvm::formatv("--accumulate {0} --dim {1}={2}", count, context.batch->name, part).str(),
           [=, name = context.batch->name](PlanSettings &all) {
             all.dims[name] = part;
             all.training.loss.microSteps = count;
           },
           {1, 1, 1, 1.0 / static_cast<double>(parts)}});
    }
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- Fit.cpp - The budget of memory is kept -------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/fit/FitOptions.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/Search.h"
#include "passes/tiling/TileSearch.h"

namespace mtc {
#define GEN_PASS_DEF_FIT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// How far away a budget is.
enum class Distance { Near, Far, Hopeless };

/// It is hopeless where it is less than what the functions have in common, and far where most
/// searches end above it.
static FailureOr<Distance> distanceOf(ModuleOp module, int64_t budget) {
  MemoryAnalysis analysis(module);
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  if (failed(plan))
    return failure();
  if (budget < analysis.getFixedBytes())
    return Distance::Hopeless;
  return budget < plan->live - plan->live / 4 ? Distance::Far : Distance::Near;
}

namespace {

struct FitPass : PassWithOptions<mtc::impl::FitBase<FitPass>, FitOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<FitOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->memory == 0)
      return;
    auto make = [&](const Goal &goal, OperationTimes &times) {
      Techniques techniques;
      if (options->recompute.recompute == "auto")
        techniques.push_back(std::make_unique<Recomputation>(goal, times));
      if (options->tile.tile == "auto")
        techniques.push_back(std::make_unique<TileSearch>(goal, times));
      return techniques;
    };
    ModuleOp module = getOperation();
    if (options->isEstimate) {
      if (failed(searchFit(module, /*budget=*/0, make, SearchEffort::Little)))
        signalPassFailure();
      return;
    }
    FailureOr<Distance> distance = distanceOf(module, options->memory);
    if (failed(distance))
      return signalPassFailure();
    OwningOpRef<ModuleOp> before = module.clone();
    FailureOr<int64_t> peak = 0;
    auto search = [&](int64_t budget) {
      OwningOpRef<ModuleOp> copy = before->clone();
      module.getBodyRegion().takeBody(copy->getBodyRegion());
      peak = searchFit(module, budget, make, SearchEffort::Whole);
      return succeeded(peak) && *peak > options->memory;
    };
    // Where the budget is missed, be it by little, the least that is known is what is needed: the
    // same for each budget, so that a program does fit the one that it was said to need.
    const bool isLeastFirst = options->leastIfMissed && *distance != Distance::Near;
    bool isMissed = isLeastFirst && search(/*budget=*/0);
    if (!isMissed && succeeded(peak) && *distance != Distance::Hopeless) {
      isMissed = search(options->memory);
      // What places waste shows only when all functions have changed: less is asked for then.
      if (isMissed && *peak - options->memory <= options->memory / 64)
        isMissed = search(options->memory - 4 * (*peak - options->memory));
      if (isMissed && options->leastIfMissed)
        search(/*budget=*/0);
    }
    if (failed(peak))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createFit(const FitOptions &options) {
  return std::make_unique<FitPass>(options);
}

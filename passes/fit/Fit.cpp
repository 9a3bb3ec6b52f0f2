//===- Fit.cpp - Search for a plan within the memory budget -----------------------------------===//

#include "passes/Passes.h"
#include "passes/fit/FitOptions.h"
#include "passes/offload/ActivationOffload.h"
#include "passes/offload/CopyTightening.h"
#include "passes/offload/VariableOffload.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/Search.h"
#include "passes/tiling/TileSearch.h"

namespace mtc {
#define GEN_PASS_DEF_FIT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// The distance between a budget and the current peak.
enum class Distance { Near, Far, Hopeless };

/// Returns Hopeless if the budget is below the memory that all functions share, and Far if most
/// searches end above the budget.
static FailureOr<Distance> distanceOf(ModuleOp module, int64_t budget, bool mayMoveVariables) {
  MemoryAnalysis analysis(module);
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  if (failed(plan))
    return failure();
  if (budget < analysis.getFixedBytes() && !mayMoveVariables)
    return Distance::Hopeless;
  return budget < plan->live - plan->live / 4 ? Distance::Far : Distance::Near;
}

/// Adds the techniques of automatic offloading. Explicit offloading reserves memory for copies,
/// too.
static void addOffloading(const OffloadUses &uses, int64_t window, const Goal &goal,
                          OperationTimes &times, Techniques &techniques) {
  for (OffloadKind kind : offloadKinds) {
    if (uses[kind] != OffloadUse::Automatic)
      continue;
    if (kind == OffloadKind::Activations)
      techniques.push_back(std::make_unique<ActivationOffload>(goal, times));
    else
      techniques.push_back(std::make_unique<VariableOffload>(goal, times, kind, window));
  }
  if (!uses.isOff())
    techniques.push_back(std::make_unique<CopyTightening>(goal, times));
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
    ModuleOp module = getOperation();
    const OffloadUses uses = options->offload.getUses(TargetInfo::of(module).getOffloadSpace());
    auto make = [&](const Goal &goal, OperationTimes &times) {
      Techniques techniques;
      if (options->recompute.recompute == "auto")
        techniques.push_back(std::make_unique<Recomputation>(goal, times));
      if (options->tile.tile == "auto")
        techniques.push_back(std::make_unique<TileSearch>(goal, times));
      addOffloading(uses, options->offload.window, goal, times, techniques);
      return techniques;
    };
    if (options->isEstimate) {
      if (failed(searchFit(module, /*budget=*/0, make, SearchEffort::Little)))
        signalPassFailure();
      return;
    }
    FailureOr<Distance> distance = distanceOf(module, options->memory, uses.mayMoveVariables());
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
    // If the budget is missed, even slightly, the plan with the smallest known peak is used. This
    // peak does not depend on the budget, so that a program fits a budget that an earlier run
    // reported as required.
    const bool isLeastFirst = options->leastIfMissed && *distance != Distance::Near;
    bool isMissed = isLeastFirst && search(/*budget=*/0);
    if (!isMissed && succeeded(peak) && *distance != Distance::Hopeless) {
      isMissed = search(options->memory);
      // Fragmentation of the arena is known only after all functions have changed. If it exceeds
      // the budget slightly, the search is repeated with a smaller budget.
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

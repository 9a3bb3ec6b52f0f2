//===- Fit.cpp - The budget of memory is kept -------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/fit/FitOptions.h"
#include "passes/pieces/PieceSearch.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/Ladder.h"

namespace mtc {
#define GEN_PASS_DEF_FIT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

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
    OwningOpRef<ModuleOp> before = module.clone();
    FailureOr<int64_t> peak = fitAll(module, options->memory, *options);
    // Where the budget is missed, be it by little, the least that is known is what is needed: the
    // same for each budget, so that a program does fit the one that it was said to need.
    if (succeeded(peak) && *peak > options->memory) {
      module.getBodyRegion().takeBody(before->getBodyRegion());
      peak = fitAll(module, /*budget=*/1, *options);
    }
    if (failed(peak))
      signalPassFailure();
  }

  /// The bytes of the arena then.
  static FailureOr<int64_t> fitAll(ModuleOp module, int64_t budget, const FitOptions &options) {
    MemoryAnalysis analysis(module);
    if (failed(analysis.getPlan()))
      return failure();
    OperationTimes times(module);
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.isAside() && failed(fit({function, analysis, budget}, times, options)))
        return failure();
    FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
    return failed(plan) ? FailureOr<int64_t>(failure()) : plan->peak;
  }

  static LogicalResult fit(const Goal &goal, OperationTimes &times, const FitOptions &options) {
    SmallVector<std::unique_ptr<Technique>> techniques;
    if (options.recompute.recompute == "auto")
      techniques.push_back(std::make_unique<Recomputation>(goal, times));
    if (options.pieces.pieces == "auto")
      techniques.push_back(std::make_unique<PieceSearch>(goal, times));
    auto pointers = llvm::map_to_vector(techniques, [](auto &each) { return each.get(); });
    if (failed(Ladder(goal, pointers).climb()))
      return failure();
    for (const std::unique_ptr<Technique> &each : techniques)
      each->report();
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createFit(const FitOptions &options) {
  return std::make_unique<FitPass>(options);
}

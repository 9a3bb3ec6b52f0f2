//===- Fit.cpp - The budget of memory is kept -------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/fit/FitOptions.h"
#include "passes/pieces/PieceSearch.h"
#include "passes/recompute/Recomputation.h"
#include "passes/search/Search.h"

namespace mtc {
#define GEN_PASS_DEF_FIT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Whether a budget is less than what the functions have in common: no search need miss it.
static FailureOr<bool> isHopeless(ModuleOp module, int64_t budget) {
  MemoryAnalysis analysis(module);
  if (failed(analysis.getPlan()))
    return failure();
  return budget < analysis.getFixedBytes();
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
      if (options->pieces.pieces == "auto")
        techniques.push_back(std::make_unique<PieceSearch>(goal, times));
      return techniques;
    };
    ModuleOp module = getOperation();
    // Where the budget is missed, be it by little, the least that is known is what is needed: the
    // same for each budget, so that a program does fit the one that it was said to need.
    FailureOr<bool> hopeless = isHopeless(module, options->memory);
    if (failed(hopeless))
      return signalPassFailure();
    bool isMissed = options->leastIfMissed && *hopeless;
    FailureOr<int64_t> peak = 0;
    if (!isMissed) {
      OwningOpRef<ModuleOp> before = module.clone();
      auto search = [&](int64_t budget) {
        OwningOpRef<ModuleOp> copy = before->clone();
        module.getBodyRegion().takeBody(copy->getBodyRegion());
        peak = searchFit(module, budget, make);
        isMissed = succeeded(peak) && *peak > options->memory;
      };
      search(options->memory);
      // What places waste shows only when all functions have changed: less is asked for then.
      if (isMissed && *peak - options->memory <= options->memory / 64)
        search(options->memory - 4 * (*peak - options->memory));
      isMissed &= options->leastIfMissed;
      if (isMissed)
        module.getBodyRegion().takeBody(before->getBodyRegion());
    }
    if (isMissed)
      peak = searchFit(module, /*budget=*/0, make);
    if (failed(peak))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createFit(const FitOptions &options) {
  return std::make_unique<FitPass>(options);
}

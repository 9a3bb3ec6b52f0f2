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
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    OperationTimes times(getOperation());
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.isAside() &&
          failed(fit({function, analysis, options->memory}, times, *options)))
        return signalPassFailure();
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

//===- Recompute.cpp - Kernels and calls run again, whatever the budget -----------------------===//

#include "passes/Passes.h"
#include "passes/recompute/Recomputation.h"
#include "passes/recompute/RecomputeOptions.h"
#include "passes/search/Ladder.h"

namespace mtc {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// The segments between checkpoints, where that lowers the peak.
static LogicalResult recomputeSegments(const Goal &goal, OperationTimes &times) {
  const OrderScore before = goal.score();
  Segments segments(goal, times);
  if (failed(segments.recompute()))
    return failure();
  if (!(goal.score() < before))
    segments.undo();
  reportRecomputed(goal, times, segments.getCount(), segments.getTime());
  return goal.analysis.getPlan();
}

/// All that lowers the peak.
static LogicalResult recomputeAll(const Goal &goal, OperationTimes &times) {
  Recomputation recomputation(goal, times);
  if (failed(Ladder(goal, {&recomputation}).climb()))
    return failure();
  recomputation.report();
  return success();
}

namespace {

struct RecomputePass : PassWithOptions<mtc::impl::RecomputeBase<RecomputePass>, RecomputeOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<RecomputeOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->recompute == "none" || options->recompute == "auto")
      return;
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    OperationTimes times(getOperation());
    auto recompute = options->recompute == "sqrt" ? recomputeSegments : recomputeAll;
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.isAside() && failed(recompute({function, analysis, /*budget=*/0}, times)))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createRecompute(const RecomputeOptions &options) {
  return std::make_unique<RecomputePass>(options);
}

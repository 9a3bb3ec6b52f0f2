//===- Recompute.cpp - Recomputation independent of the memory budget -------------------------===//

#include "passes/Passes.h"
#include "passes/recompute/Recomputation.h"
#include "passes/recompute/RecomputeOptions.h"
#include "passes/search/Search.h"

namespace mtc {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Recomputes the segments between checkpoints if that lowers the peak.
static LogicalResult recomputeSegments(const FunctionBudget &budget, OperationTimes &times) {
  const OrderScore before = budget.score();
  Segments segments(budget, times);
  if (failed(segments.recompute()))
    return failure();
  if (!(budget.score() < before))
    segments.undo();
  reportRecomputed(budget, times, segments.getCount(), segments.getTime());
  return budget.analysis.update();
}

/// Recomputes the segments of each function.
static LogicalResult recomputeSegments(ModuleOp module) {
  MemoryAnalysis analysis(module);
  if (failed(analysis.update()))
    return failure();
  OperationTimes times(module);
  return success(llvm::all_of(analysis.getFunctions(), [&](const FunctionMemory &function) {
    return function.hasSeparateArena() ||
           succeeded(recomputeSegments({function, analysis, /*bytes=*/0}, times));
  }));
}

/// Applies every recomputation that lowers the peak.
static LogicalResult recomputeAll(ModuleOp module) {
  auto make = [](const FunctionBudget &budget, OperationTimes &times) {
    PeakReducers reducers;
    reducers.push_back(std::make_unique<Recomputation>(budget, times));
    return reducers;
  };
  FailureOr<FittedModule> fitted = searchFit(module, /*budget=*/0, make);
  if (succeeded(fitted))
    fitted->applyTo(module);
  return fitted;
}

namespace {

struct RecomputePass : PassWithOptions<mtc::impl::RecomputeBase<RecomputePass>, RecomputeOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<RecomputeOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    LogicalResult result = success();
    switch (options->recompute) {
    case RecomputeMode::None:
    case RecomputeMode::Auto: // mtc-fit recomputes.
      return;
    case RecomputeMode::Sqrt:
      result = recomputeSegments(getOperation());
      break;
    case RecomputeMode::All:
      result = recomputeAll(getOperation());
      break;
    }
    if (failed(result))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createRecompute(const RecomputeOptions &options) {
  return std::make_unique<RecomputePass>(options);
}

//===- PiecesPass.cpp - Large values are computed in pieces, whatever the budget --------------===//

#include "passes/Passes.h"
#include "passes/pieces/PieceSearch.h"
#include "passes/pieces/PiecesOptions.h"
#include "passes/search/Ladder.h"

namespace mtc {
#define GEN_PASS_DEF_PIECESPASS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// All that lowers the peak, unless its places waste more than that.
static LogicalResult computeInPieces(const Goal &goal, OperationTimes &times) {
  PieceSearch pieces(goal, times);
  Ladder ladder(goal, {&pieces});
  FailureOr<MemoryPlan> whole = goal.analysis.getPlanWithLayout();
  if (failed(whole) || failed(ladder.climb()))
    return failure();
  FailureOr<MemoryPlan> inPieces = goal.analysis.getPlanWithLayout();
  if (failed(inPieces) || (inPieces->peak > whole->peak && failed(ladder.goBack())))
    return failure();
  pieces.report();
  return success();
}

namespace {

struct PiecesPass : PassWithOptions<mtc::impl::PiecesPassBase<PiecesPass>, PiecesOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<PiecesOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->pieces != "all")
      return;
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    OperationTimes times(getOperation());
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.isAside() && failed(computeInPieces({function, analysis, /*budget=*/0}, times)))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createPieces(const PiecesOptions &options) {
  return std::make_unique<PiecesPass>(options);
}

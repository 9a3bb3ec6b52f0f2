//===- PiecesPass.cpp - Large values are computed in pieces -----------------------------------===//

#include "passes/Passes.h"
#include "passes/cost/StepCost.h"
#include "passes/pieces/PieceSearch.h"
#include "passes/pieces/PiecesOptions.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_PIECESPASS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct PiecesPass : PassWithOptions<mtc::impl::PiecesPassBase<PiecesPass>, PiecesOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<PiecesOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->pieces == "none" || (options->pieces == "auto" && options->memory == 0))
      return;
    const int64_t budget = options->pieces == "all" ? 0 : options->memory;
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    StepCost cost(getOperation());
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.isAside() && failed(fit(function, analysis, cost, budget)))
        return signalPassFailure();
  }

  static LogicalResult fit(const FunctionMemory &function, MemoryAnalysis &analysis, StepCost &cost,
                           int64_t budget) {
    PieceSearch search(function, analysis, cost);
    while (true) {
      const int64_t needed =
          analysis.getFixedBytes() + function.getLive()[function.getPeakTime()] - budget;
      if (needed <= 0)
        return success();
      auto choices = search.find();
      if (failed(choices))
        return failure();
      const PieceSearch::Choice *best = PieceSearch::choose(*choices, needed);
      if (!best)
        return success();
      remark::passed(best->value.getLoc(),
                     remark::RemarkOpts::name("in_pieces").category("mtc-pieces"))
          << remark::metric("pieces", best->count) << remark::metric("bytes", best->bytes)
          << remark::metric("milliseconds", 1e3 * best->time);
      if (failed(search.apply(*best)))
        return failure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createPieces(const PiecesOptions &options) {
  return std::make_unique<PiecesPass>(options);
}

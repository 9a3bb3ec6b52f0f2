//===- PiecesPass.cpp - Large values are computed in pieces, whatever the budget --------------===//

#include "passes/Passes.h"
#include "passes/pieces/PieceSearch.h"
#include "passes/pieces/PiecesOptions.h"
#include "passes/search/Search.h"

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
    if (options->pieces != "all")
      return;
    auto inPieces = [](const Goal &goal, OperationTimes &times) {
      Techniques techniques;
      techniques.push_back(std::make_unique<PieceSearch>(goal, times));
      return techniques;
    };
    if (failed(searchFit(getOperation(), /*budget=*/0, inPieces,
                         SearchEffort::Whole))) // All that lowers the peak.
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createPieces(const PiecesOptions &options) {
  return std::make_unique<PiecesPass>(options);
}

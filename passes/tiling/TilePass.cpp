//===- TilePass.cpp - Tiling independent of the memory budget ---------------------------------===//

#include "passes/Passes.h"
#include "passes/search/Search.h"
#include "passes/tiling/TileOptions.h"
#include "passes/tiling/TileSearch.h"

namespace mtc {
#define GEN_PASS_DEF_TILEPASS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct TilePass : PassWithOptions<mtc::impl::TilePassBase<TilePass>, TileOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<TileOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->tile != TileMode::All)
      return;
    auto inTiles = [](const FunctionBudget &budget, OperationTimes &times) {
      PeakReducers reducers;
      reducers.push_back(std::make_unique<TileSearch>(budget, times));
      return reducers;
    };
    // Applies every tiling that lowers the peak.
    FailureOr<FittedModule> fitted = searchFit(getOperation(), /*budget=*/0, inTiles);
    if (failed(fitted))
      return signalPassFailure();
    fitted->applyTo(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createTile(const TileOptions &options) {
  return std::make_unique<TilePass>(options);
}

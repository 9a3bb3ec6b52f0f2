//===- Tile.cpp - Computation in tiles --------------------------------------------------------===//

#include "passes/planning/Technique.h"
#include "passes/search/FunctionBudget.h"
#include "passes/tiling/TileSearch.h"

using namespace mtc;

namespace mtc {
void addTileTechniques(std::vector<Technique> &techniques) {
  Technique technique{"tile", "large values in tiles", Stage::Allocated, Effect::Order};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.fit.tile.tile == TileMode::None)
      changes.push_back({"--tile auto",
                         [](PlanSettings &all) { all.fit.tile.tile = TileMode::Auto; },
                         {1, 1, 1, 0}});
    return changes;
  };
  technique.disable = [](PlanSettings &all) { all.fit.tile.tile = TileMode::None; };
  technique.make = [](const FunctionBudget &budget, OperationTimes &times,
                      const FitOptions &options) -> std::unique_ptr<PeakReducer> {
    if (options.tile.tile != TileMode::Auto)
      return nullptr;
    return std::make_unique<TileSearch>(budget, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- Technique.cpp - Computation in tiles ---------------------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"
#include "passes/tiling/TileSearch.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeTile();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeTile() {
  TechniqueKind kind{"tile", "large values in tiles", Stage::Allocated, Effect::Order};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.tile.tile == TileMode::None)
      changes.push_back(
          {"--tile auto", [](PlanSettings &all) { all.tile.tile = TileMode::Auto; }, {1, 1, 1, 0}});
    return changes;
  };
  kind.disable = [](PlanSettings &all) { all.tile.tile = TileMode::None; };
  kind.make = [](const Goal &goal, OperationTimes &times,
                 const FitOptions &options) -> std::unique_ptr<Technique> {
    if (options.tile.tile != TileMode::Auto)
      return nullptr;
    return std::make_unique<TileSearch>(goal, times);
  };
  return kind;
}

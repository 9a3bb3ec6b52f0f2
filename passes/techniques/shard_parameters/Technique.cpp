//===- Technique.cpp - Parameters divided among ranks -----------------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeShardParameters();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeShardParameters() {
  TechniqueKind kind{"shard-parameters", "all variables divided among ranks", Stage::Training,
                     Effect::None, Permission::Allow};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.training.sharding.ranks > 1 && settings.training.sharding.shard != "parameters")
      changes.push_back({"--shard parameters",
                         [](PlanSettings &all) { all.training.sharding.shard = "parameters"; }});
    return changes;
  };
  return kind;
}

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
    const ShardingOptions &given = settings.training.sharding;
    if (given.ranks > 1 && given.shard != "parameters" && given.reduce == "every")
      changes.push_back({"--shard parameters",
                         [](PlanSettings &all) { all.training.sharding.shard = "parameters"; }});
    return changes;
  };
  return kind;
}

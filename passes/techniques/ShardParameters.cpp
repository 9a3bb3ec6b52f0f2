//===- ShardParameters.cpp - Parameters divided among ranks -----------------------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addShardParametersTechniques(std::vector<Technique> &techniques) {
  Technique technique{"shard-parameters", "all variables divided among ranks", Stage::Training,
                      Effect::None, Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    const ShardingOptions &given = settings.training.sharding;
    if (given.getDataRanks() > 1 && given.shard != "parameters" && given.reduce == "every")
      changes.push_back({"--shard parameters",
                         [](PlanSettings &all) { all.training.sharding.shard = "parameters"; }});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- ShardState.cpp - Optimizer state and gradients divided among ranks ---------------------===//

#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addShardStateTechniques(std::vector<Technique> &techniques) {
  Technique technique{"shard-state", "optimizer state and gradients divided among ranks",
                      Stage::Training, Effect::None, Permission::Allow};
  technique.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    const ShardingOptions &given = settings.training.sharding;
    // Gradients that are added in the update are whole.
    const char *shard = given.reduce == "last" ? "optimizer" : "gradients";
    if (given.getDataRanks() > 1 && given.shard == "none")
      changes.push_back({std::string("--shard ") + shard, [shard](PlanSettings &all) {
                           // The technique has no effect in addition to shard-parameters.
                           if (all.training.sharding.shard == "none")
                             all.training.sharding.shard = shard;
                         }});
    return changes;
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc

//===- Technique.cpp - Optimizer state and gradients divided among ranks ----------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/search/Goal.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeShardState();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeShardState() {
  TechniqueKind kind{"shard-state", "optimizer state and gradients divided among ranks",
                     Stage::Training, Effect::None, Permission::Allow};
  kind.propose = [](const PlanSettings &settings, const PlanContext &) {
    std::vector<PlanChange> changes;
    if (settings.training.sharding.ranks > 1 && settings.training.sharding.shard == "none")
      changes.push_back({"--shard gradients", [](PlanSettings &all) {
                           // Beside shard-parameters, it changes nothing.
                           if (all.training.sharding.shard == "none")
                             all.training.sharding.shard = "gradients";
                         }});
    return changes;
  };
  return kind;
}

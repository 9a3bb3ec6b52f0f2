//===- SpeculativePlanner.h - Plans before they are requested ---------------------------------===//

#ifndef MTC_PASSES_PLANNING_SPECULATIVEPLANNER_H
#define MTC_PASSES_PLANNING_SPECULATIVEPLANNER_H

#include "passes/planning/Planner.h"

namespace mtc {

/// Plans one request after another, while other threads plan those that probably follow. A plan
/// that was made ahead is used only for an equal request, so that results do not depend on the
/// number of threads.
class SpeculativePlanner {
public:
  explicit SpeculativePlanner(Planner &planner) : planner(planner) {}

  /// Returns the plan of a request. If it was not made ahead, calls `guess` for the requests that
  /// probably follow.
  std::optional<Plan> plan(const PlanRequest &request,
                           llvm::function_ref<std::vector<PlanRequest>()> guess);
  void clear() { ahead.clear(); }

private:
  struct Ahead {
    std::string flags;
    std::optional<double> maxSeconds;
    std::optional<Plan> plan;
  };

  Planner &planner;
  std::vector<Ahead> ahead;
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_SPECULATIVEPLANNER_H

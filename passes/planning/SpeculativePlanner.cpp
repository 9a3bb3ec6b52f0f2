//===- SpeculativePlanner.cpp - Plans before they are requested -------------------------------===//

#include "passes/planning/SpeculativePlanner.h"

using namespace mlir;
using namespace mtc;

std::optional<Plan> SpeculativePlanner::plan(const PlanRequest &request,
                                             llvm::function_ref<std::vector<PlanRequest>()> guess) {
  auto isEqual = [&](const Ahead &each) {
    return each.flags == request.flags && each.maxSeconds == request.settings.fit.maxSeconds;
  };
  if (auto known = llvm::find_if(ahead, isEqual); known != ahead.end()) {
    std::optional<Plan> plan = std::move(known->plan);
    ahead.erase(known);
    return plan;
  }
  ahead.clear();
  std::vector<PlanRequest> guesses;
  if (planner.isParallel() && !planner.isTimeUp())
    guesses = guess();
  SmallVector<const PlanRequest *> requests = {&request};
  for (const PlanRequest &each : guesses)
    requests.push_back(&each);
  std::vector<std::optional<Plan>> plans = planner.planEach(requests);
  for (size_t i = 0; i < guesses.size(); ++i)
    ahead.push_back(
        {guesses[i].flags, guesses[i].settings.fit.maxSeconds, std::move(plans[i + 1])});
  return std::move(plans.front());
}

//===- Planner.h - Plans and cost estimates for given settings --------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANNER_H
#define MTC_PASSES_PLANNING_PLANNER_H

#include "passes/planning/Plan.h"
#include "passes/planning/QueryProgress.h"
#include "passes/planning/StageCache.h"

namespace mtc {

/// Plans one model with various settings, several of them in parallel. Lowered modules are kept.
class Planner {
public:
  /// `given.fit.searchSeconds` limits each query.
  Planner(PlanSource &source, PlanSettings given, PlanProgress report = {});

  const PlanSettings &getGiven() const { return given; }
  PlanContext getContext() const { return source.getPlanContext(); }
  /// Returns whether several requests are planned at the same time.
  bool isParallel() const { return source.getContext().getNumThreads() > 1; }
  QueryProgress &getProgress() { return progress; }
  bool isTimeUp() const { return progress.isTimeUp(); }

  /// Returns the plans of requests; nothing for requests without a plan. Plans several of them in
  /// parallel, each through all of its stages.
  std::vector<std::optional<Plan>> planEach(llvm::ArrayRef<const PlanRequest *> requests);
  std::optional<Plan> plan(const PlanRequest &request) {
    return std::move(planEach(&request).front());
  }
  /// Adds the messages of the stages before allocation to those of a plan.
  void addMessages(Plan &plan);

  /// Returns the costs with each of the settings, and finishes a part of the query for each. The
  /// result is empty for settings without a plan, and for settings that are not reached before the
  /// time limit.
  std::vector<std::optional<PlanCost>> estimateEach(llvm::ArrayRef<PlanSettings> all);
  /// Returns the cost of kernels without a budget for each of the settings, a lower bound on the
  /// time with one. The result is empty for settings without a plan, and for settings, except the
  /// first, that are not reached before the time limit.
  std::vector<std::optional<PlanCost>> boundEach(llvm::ArrayRef<PlanSettings> all);
  std::optional<PlanCost> bound(const PlanSettings &settings) {
    return boundEach(settings).front();
  }
  /// Returns the seconds of the library calls of an update, before kernels are formed. Some calls
  /// become parts of others later.
  std::optional<double> getSecondsOfCalls(const PlanSettings &settings);

  /// Lowers the model for requests that will probably follow.
  void lowerAhead(llvm::ArrayRef<StageCache::Request> requests) {
    stages.lowerAll(requests, [&] { return isTimeUp(); });
  }
  /// Drops all lowered modules.
  void forgetStages() { stages.clear(); }

private:
  struct Part;
  Part beginPart(const PlanRequest &request);
  void runPart(Part &part);
  void checkVariables(Plan &plan, mlir::ModuleOp module, Stage stage) const;

  PlanSource &source;
  PlanSettings given;
  QueryProgress progress;
  StageCache stages;
  bool mayMoveVariables;                                 ///< By offloading.
  std::map<std::string, std::optional<PlanCost>> bounds; ///< By the key of the kernels.
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANNER_H

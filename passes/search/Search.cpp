//===- Search.cpp - A module is changed until it fits -----------------------------------------===//

#include "passes/search/Search.h"

#include "passes/search/Ladder.h"

using namespace mlir;
using namespace mtc;

namespace {

/// One way to change a module, tried on a copy of it.
class Attempt {
public:
  Attempt(ModuleOp module, int64_t budget)
      : module(module.clone()), analysis(*this->module), times(*this->module), budget(budget) {}

  /// Makes the techniques, and starts over where they have another start and that is asked for.
  LogicalResult begin(MakeTechniques make, bool startsOver) {
    if (failed(analysis.getPlan()))
      return failure();
    for (const FunctionMemory &function : analysis.getFunctions()) {
      if (function.isAside())
        continue;
      goals.push_back(std::make_unique<Goal>(Goal{function, analysis, budget}));
      techniques.push_back(make(*goals.back(), times));
      for (const std::unique_ptr<Technique> &each : techniques.back())
        if (each->hasOtherStart()) {
          canStartOver = true;
          if (startsOver && failed(each->startOver()))
            return failure();
        }
    }
    return finish();
  }

  /// Gives up where the functions take so many seconds.
  LogicalResult climb(double mostTime) {
    for (auto [goal, own] : llvm::zip_equal(goals, techniques)) {
      auto pointers = llvm::map_to_vector(own, [](auto &each) { return each.get(); });
      const double others = getTime() - times.ofFunction(goal->function.getFunction());
      if (failed(Ladder(*goal, times, pointers).climb(mostTime - others)))
        return failure();
      FailureOr<int64_t> excess = goal->findExcess();
      if (failed(excess))
        return failure();
      for (Technique *each : pointers)
        if (*excess <= 0 && failed(each->finish()))
          return failure();
    }
    return finish();
  }

  bool hasOtherStart() const { return canStartOver; }
  bool fits() const { return peak <= budget; }
  int64_t getPeak() const { return peak; }
  /// Seconds of the functions that a step runs.
  double getTime() {
    double sum = 0;
    for (const std::unique_ptr<Goal> &goal : goals)
      sum += times.ofFunction(goal->function.getFunction());
    return sum;
  }
  bool isBetterThan(Attempt &other) {
    if (fits() && other.fits())
      return getTime() < other.getTime();
    return peak < other.peak;
  }

  /// Says what was done, and makes it the module.
  void keep(ModuleOp changed) {
    for (const Techniques &own : techniques)
      for (const std::unique_ptr<Technique> &each : own)
        each->report();
    changed.getBodyRegion().takeBody(module->getBodyRegion());
  }

private:
  LogicalResult finish() {
    FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
    if (failed(plan))
      return failure();
    peak = plan->peak;
    return success();
  }

  OwningOpRef<ModuleOp> module;
  MemoryAnalysis analysis;
  OperationTimes times;
  int64_t budget;
  std::vector<std::unique_ptr<Goal>> goals;
  SmallVector<Techniques, 0> techniques; ///< of each goal
  bool canStartOver = false;
  int64_t peak = 0;
};

} // namespace

FailureOr<int64_t> mtc::searchFit(ModuleOp module, int64_t budget, MakeTechniques make) {
  constexpr double any = std::numeric_limits<double>::infinity();
  auto best = std::make_unique<Attempt>(module, budget);
  if (failed(best->begin(make, /*startsOver=*/false)))
    return failure();
  const int64_t before = best->getPeak();
  const double least = best->getTime();
  if (failed(best->climb(any)))
    return failure();
  // No other start takes less time than the module as it is.
  if (best->hasOtherStart() && !(best->fits() && best->getTime() <= least)) {
    auto other = std::make_unique<Attempt>(module, budget);
    if (failed(other->begin(make, /*startsOver=*/true)) ||
        failed(other->climb(best->fits() ? best->getTime() : any)))
      return failure();
    if (other->isBetterThan(*best))
      best = std::move(other);
  }
  // A last step that frees more than it has to hides a way that suits what is needed then.
  if (best->fits() && best->getPeak() < before && budget - best->getPeak() > budget / 128) {
    auto lower = std::make_unique<Attempt>(module, best->getPeak());
    if (failed(lower->begin(make, /*startsOver=*/false)) || failed(lower->climb(best->getTime())))
      return failure();
    if (lower->fits() && lower->getTime() < best->getTime())
      best = std::move(lower);
  }
  if (best->getPeak() > before) // Its places waste more than is freed.
    return before;
  best->keep(module);
  return best->getPeak();
}

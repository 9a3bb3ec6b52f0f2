//===- Search.cpp - Search for a plan within the memory budget --------------------------------===//

#include "passes/search/Search.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/search/GreedySearch.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Limit on the effort for a function, in units of FunctionMemory::getEffort: about a second
/// of a CPU of 2021.
constexpr int64_t maxEffort = 2'000'000;

/// One sequence of changes to a module, applied to a clone of the module.
class Attempt {
public:
  /// `known` are the times of the module's operations, which are those of the clone's, too. A
  /// `start`, which may be null, changes the clone first.
  Attempt(ModuleOp original, const OperationTimes &known, int64_t bytes, bool startsOver,
          Deadline deadline, const SearchStart *start)
      : module(cast<ModuleOp>(original->clone(clones))), analysis(*module), times(*module),
        bytes(bytes), startsOver(startsOver), deadline(deadline), start(start) {
    if (!start)
      times.copyFrom(known, clones);
    clones.clear();
  }

  /// Creates the reducers on the first call, and applies their alternative starts if requested.
  LogicalResult begin(MakePeakReducers make) {
    if (!reducers.empty())
      return success();
    if (start) {
      FailureOr<std::function<void()>> applied = start->apply(*module);
      if (failed(applied))
        return failure();
      reportStart = std::move(*applied);
    }
    if (failed(analysis.update()))
      return failure();
    // What the start leaves is at least this much, and another start has the other variables.
    // A budget of 0 asks for the lowest peak.
    isGivenUp = start && (!reportStart || (bytes != 0 && analysis.findFloor() > bytes));
    if (isGivenUp) {
      peak = std::numeric_limits<int64_t>::max();
      return success();
    }
    for (const FunctionMemory &function : analysis.getFunctions()) {
      if (function.hasSeparateArena())
        continue;
      budgets.push_back(
          std::make_unique<FunctionBudget>(FunctionBudget{function, analysis, bytes, deadline}));
      reducers.push_back(make(*budgets.back(), times));
      for (const std::unique_ptr<PeakReducer> &each : reducers.back())
        if (each->hasOtherStart()) {
          canStartOver = true;
          if (startsOver) {
            if (failed(each->startOver()))
              return failure();
            each->setUsed();
          }
        }
    }
    return success();
  }

  /// Computes the peak.
  LogicalResult layOut() {
    FailureOr<int64_t> bytes = analysis.findArenaBytes();
    if (failed(bytes))
      return failure();
    peak = *bytes;
    return success();
  }

  /// Stops when the step takes `maxTime` seconds, or when the limit on the effort for a function
  /// is reached.
  LogicalResult run(double maxTime) {
    if (isGivenUp)
      return success();
    SmallVector<bool> hasMet(budgets.size(), true);
    // A change of variables for one function may raise the peak of another that has met the budget.
    for (int round = 0; round < 2; ++round)
      for (auto [budget, own, met] : llvm::zip_equal(budgets, reducers, hasMet)) {
        if (met && failed(reduce(*budget, own, maxTime)))
          return failure();
        FailureOr<int64_t> excess = budget->findExcess();
        if (failed(excess))
          return failure();
        met = *excess <= 0;
      }
    for (auto [budget, own] : llvm::zip_equal(budgets, reducers)) {
      FailureOr<int64_t> excess = budget->findExcess();
      if (failed(excess))
        return failure();
      for (const std::unique_ptr<PeakReducer> &each : own)
        if (*excess <= 0 && failed(each->finish()))
          return failure();
    }
    return layOut();
  }

  LogicalResult improve() {
    for (const PeakReducers &own : reducers)
      for (const std::unique_ptr<PeakReducer> &each : own)
        if (failed(each->improve()))
          return failure();
    return layOut();
  }

  bool hasOtherStart() const { return canStartOver; }
  bool fits() const { return peak <= bytes; }
  /// Bytes that all functions share in any plan.
  int64_t getFixedBytes() const { return analysis.getFixedBytes() - analysis.getSavedBytes(); }
  int64_t findFloor() const { return analysis.findFloor(); }
  size_t countOperations() const {
    size_t count = 0;
    for (const std::unique_ptr<FunctionBudget> &budget : budgets)
      count += budget->function.getOrder().size();
    return count;
  }
  int64_t getPeak() const { return peak; }
  /// Returns the estimated seconds of an update, including all micro-steps.
  double getTime() {
    double sum = 0;
    for (const std::unique_ptr<FunctionBudget> &budget : budgets)
      sum += static_cast<double>(FunctionBudget::countRuns(budget->function.getFunction())) *
             budget->getSeconds(times);
    return sum;
  }
  bool isBetterThan(Attempt &other) {
    if (fits() != other.fits())
      return fits();
    return fits() ? getTime() < other.getTime() : peak < other.peak;
  }

  /// Emits the remarks, and returns the result with the names of used techniques.
  FittedModule take() {
    llvm::SetVector<StringRef> used;
    if (reportStart) {
      reportStart();
      used.insert_range(start->techniques);
    }
    for (const PeakReducers &own : reducers)
      for (const std::unique_ptr<PeakReducer> &each : own) {
        each->report();
        if (each->isUsed() && !each->getName().empty())
          used.insert(each->getName());
      }
    if (!used.empty())
      (*module)->setAttr(techniquesAttribute, Builder(*module).getStrArrayAttr(used.getArrayRef()));
    return {peak, getTime(), std::move(module)};
  }

private:
  LogicalResult reduce(const FunctionBudget &budget, const PeakReducers &own, double maxTime) {
    auto pointers = llvm::map_to_vector(own, [](auto &each) { return each.get(); });
    const auto runs = static_cast<double>(FunctionBudget::countRuns(budget.function.getFunction()));
    const double others = getTime() - runs * budget.getSeconds(times);
    const double maxOwn =
        runs != 0 ? (maxTime - others) / runs : std::numeric_limits<double>::infinity();
    return GreedySearch(budget, times, pointers).run(maxOwn, analysis.getEffort() + maxEffort);
  }

  IRMapping clones; ///< of the original operations, until their times have been copied
  OwningOpRef<ModuleOp> module;
  MemoryAnalysis analysis;
  OperationTimes times;
  int64_t bytes; ///< The budget.
  bool startsOver;
  Deadline deadline;
  const SearchStart *start;
  std::function<void()> reportStart; ///< Null if there is no start.
  bool isGivenUp = false;            ///< The start cannot lead to the budget.
  std::vector<std::unique_ptr<FunctionBudget>> budgets;
  SmallVector<PeakReducers, 0> reducers; ///< for each budget
  bool canStartOver = false;
  int64_t peak = 0;
};

/// An attempt that may not have begun.
struct Start {
  int64_t budget;
  bool startsOver;
  std::unique_ptr<Attempt> attempt = {};
  const SearchStart *change = nullptr;
};

using Starts = SmallVector<Start>;

} // namespace

/// Larger programs get fewer attempts, since each plans a copy of the program.
static bool isSmall(const Attempt &attempt) { return attempt.countOperations() <= 4096; }

/// Runs the attempts in parallel and returns the best one; ties keep the first. Attempts stop when
/// the step takes `maxTime` seconds.
static FailureOr<std::unique_ptr<Attempt>> findBest(ModuleOp module, const OperationTimes &known,
                                                    Starts starts, MakePeakReducers make,
                                                    double maxTime, Deadline deadline) {
  if (failed(failableParallelForEach(module.getContext(), starts, [&](Start &each) {
        if (!each.attempt)
          each.attempt = std::make_unique<Attempt>(module, known, each.budget, each.startsOver,
                                                   deadline, each.change);
        return success(succeeded(each.attempt->begin(make)) &&
                       succeeded(each.attempt->run(maxTime)));
      })))
    return failure();
  auto best = llvm::min_element(
      starts, [](const Start &a, const Start &b) { return a.attempt->isBetterThan(*b.attempt); });
  return std::move(best->attempt);
}

/// Returns smaller budgets to try, since greedy search with a smaller budget may find a faster
/// plan. One is the reached peak, if the last change freed more than required. For small programs,
/// others are taken from a fixed set of 32 steps between the initial peak and the fixed bytes. The
/// steps do not depend on the budget.
static SmallVector<int64_t> findSmallerBudgets(const Attempt &best, int64_t budget, int64_t fixed,
                                               int64_t before) {
  constexpr size_t maxCount = 3;
  constexpr int64_t parts = 32;
  SmallVector<int64_t> budgets;
  if (budget - best.getPeak() > budget / 128)
    budgets.push_back(best.getPeak());
  for (int64_t i = 1; i < parts && isSmall(best) && budgets.size() < maxCount; ++i)
    if (int64_t smaller = before - (before - fixed) * i / parts; smaller < budget)
      budgets.push_back(smaller);
  return budgets;
}

void FittedModule::applyTo(ModuleOp searched) {
  if (!module)
    return;
  searched.getBodyRegion().takeBody(module->getBodyRegion());
  if (Attribute names = (*module)->getAttr(techniquesAttribute))
    searched->setAttr(techniquesAttribute, names);
}

FailureOr<FittedModule> mtc::searchFit(ModuleOp module, int64_t budget, MakePeakReducers make,
                                       double maxSeconds, Deadline deadline,
                                       ArrayRef<SearchStart> others) {
  OperationTimes known(module);
  for (auto function : module.getOps<func::FuncOp>())
    known.ofFunction(function);
  Starts starts;
  starts.push_back({budget, /*startsOver=*/false,
                    std::make_unique<Attempt>(module, known, budget, /*startsOver=*/false, deadline,
                                              /*start=*/nullptr)});
  Attempt &first = *starts.front().attempt;
  if (failed(first.begin(make)) || failed(first.layOut()))
    return failure();
  const int64_t before = first.getPeak(), fixed = first.getFixedBytes();
  if (first.fits())
    return FittedModule{before};
  // What remains of a lower bound after the change is a lower bound as well.
  const int64_t floor = first.findFloor();
  SmallVector<const SearchStart *> changes;
  for (const SearchStart &other : others)
    if (budget == 0 || floor - other.maxFreed <= budget)
      changes.push_back(&other);
  if (first.hasOtherStart())
    starts.push_back({budget, /*startsOver=*/true});
  FailureOr<std::unique_ptr<Attempt>> best =
      findBest(module, known, std::move(starts), make, maxSeconds, deadline);
  if (failed(best))
    return failure();
  auto isTimeUp = [&] { return std::chrono::steady_clock::now() >= deadline; };
  // In pairs, because each attempt has a copy of the module.
  auto tried = [&] {
    return changes.size() > 2 && (*best)->fits() && !isSmall(**best) ? 2 : changes.size();
  };
  for (size_t i = 0; i < tried() && !isTimeUp(); i += 2) {
    Starts changed;
    for (const SearchStart *change : ArrayRef(changes).slice(i).take_front(2))
      changed.push_back({budget, /*startsOver=*/false, {}, change});
    auto found =
        findBest(module, known, std::move(changed), make,
                 (*best)->fits() ? std::min((*best)->getTime(), maxSeconds) : maxSeconds, deadline);
    if (failed(found))
      return failure();
    if ((*found)->isBetterThan(**best))
      best = std::move(found);
  }
  Starts lower;
  if ((*best)->fits() && !isTimeUp())
    for (int64_t smaller : findSmallerBudgets(**best, budget, fixed, before))
      lower.push_back({smaller, /*startsOver=*/false});
  if (!lower.empty()) {
    auto found = findBest(module, known, std::move(lower), make, (*best)->getTime(), deadline);
    if (failed(found))
      return failure();
    if ((*found)->isBetterThan(**best))
      best = std::move(found);
  }
  if ((*best)->getPeak() > before) // The layout wastes more memory than was freed.
    return FittedModule{before};
  if ((*best)->fits() && !isTimeUp() && failed((*best)->improve()))
    return failure();
  return (*best)->take();
}

//===- Recompute.cpp - Kernels and calls run again so that the peak fits ----------------------===//
//
// A ladder: of what is alive at the peak and read behind it, what frees the most bytes for the
// least time is computed again first, equal operations of equal layers together, those first that
// would be kept the longest. Each rung is checked against the peak of the plan. A smaller budget
// climbs the same ladder further, so that the peak falls, and the time rises, with the budget.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/cost/StepCost.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"
#include "passes/recompute/RecomputeOptions.h"
#include "passes/recompute/Rematerializer.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mtc {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// What operations take. Copies take what their originals do.
class Times {
public:
  explicit Times(ModuleOp module) : cost(module) {}

  double of(Operation *op) {
    auto [known, isNew] = times.try_emplace(op);
    if (isNew)
      known->second = estimate(op);
    return known->second;
  }
  double ofFunction(func::FuncOp function) {
    double sum = 0;
    for (Operation &op : function.front())
      sum += of(&op);
    return sum;
  }
  void add(const Rematerializer::Added &added) {
    for (auto [copy, original, part] : added.copies)
      times[copy] = part * of(original);
  }

private:
  /// Where there is no target, a byte takes as long as so many operations.
  double estimate(Operation *op) {
    constexpr double flopsPerByte = 10, flopsPerSecond = 1e11;
    if (!cost.describeRates().empty())
      return cost.of(op).seconds();
    auto ofCost = [&](const Cost &found) {
      return (static_cast<double>(found.flops) + flopsPerByte * static_cast<double>(found.bytes)) /
             flopsPerSecond;
    };
    if (auto kernel = dyn_cast<KernelOp>(op))
      return ofCost(kernel.getCost());
    auto known = dyn_cast<CostOpInterface>(op);
    return known ? ofCost(known.getCost()) : 0;
  }

  StepCost cost;
  DenseMap<Operation *, double> times;
};

/// Values that are computed again together.
struct Unit {
  SmallVector<OpResult, 3> values;
  Rematerializer::DeadOperands dead;
  int64_t bytes = 0; ///< that it frees at the peak
  double time = 0;   ///< that it takes, in seconds
};

/// Units that do the same for different layers, in the order in which they run.
struct Rung {
  SmallVector<Unit> units;

  int64_t getBytes() const { return units.front().bytes; }
  double getTime() const { return units.front().time; }
};

class Ladder {
public:
  Ladder(const FunctionMemory &function, MemoryAnalysis &analysis, Times &times, int64_t budget)
      : function(function), analysis(analysis), times(times), budget(budget),
        values(function.getFunction().front(), analysis) {}

  /// Climbs until the plan fits, or nothing lowers its peak.
  LogicalResult climb() {
    while (true) {
      FailureOr<bool> isReached = fits();
      if (failed(isReached) || *isReached)
        return failure(failed(isReached));
      std::optional<Rung> rung = findRung();
      if (!rung)
        return success();
      const size_t before = count;
      if (failed(climb(*rung)))
        return failure();
      if (count > before)
        refused.clear(); // There is another peak.
    }
  }

  size_t getCount() const { return count; }
  double getTime() const { return time; }

private:
  /// Whether the function needs no more than the budget leaves it, and its placement neither.
  FailureOr<bool> fits() {
    FailureOr<MemoryPlan> plan = analysis.getPlan();
    if (failed(plan))
      return failure();
    if (liveBytes() > budget)
      return false;
    if (plan->live > liveBytes()) // Another function needs more; that is its own affair.
      return true;
    plan = analysis.getPlanWithLayout();
    if (failed(plan))
      return failure();
    return plan->peak <= budget;
  }

  /// The rung to climb next, of those that are not known to be of no use.
  std::optional<Rung> findRung() {
    OrderModel model(function);
    const OrderScore score = model.scoreAsItIs();
    llvm::MapVector<std::pair<size_t, std::pair<int64_t, int64_t>>, Rung> rungs;
    for (Unit &unit : findUnits(model)) {
      OpResult first = unit.values.front();
      if (unit.bytes * leastPart < score.peak || refused.contains({first, unit.values.size()}))
        continue;
      size_t hash = OperationEquivalence::computeHash(
          first.getOwner(), OperationEquivalence::ignoreHashValue,
          OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
      hash = llvm::hash_combine(hash, first.getResultNumber());
      auto time = static_cast<int64_t>(1e12 * unit.time);
      rungs[{hash, {unit.bytes, time}}].units.push_back(std::move(unit));
    }
    return choose(llvm::make_second_range(rungs));
  }

  /// What can be computed again so that less is alive at the peak: each value by itself, with what
  /// it needs, and values together for whose sake one is kept that their operations read.
  SmallVector<Unit> findUnits(const OrderModel &model) {
    SmallVector<Unit> units;
    llvm::MapVector<Value, Unit> keeping;
    Operation *place = model.getOperation(model.getPeakPlace());
    for (unsigned node = 0; node < model.getPeakPlace(); ++node)
      for (OpResult value : model.getOperation(node)->getResults())
        if (int64_t bytes = bytesWaiting(value, place))
          addUnits(value, bytes, place, units, keeping);
    for (auto &[value, unit] : keeping)
      units.push_back(std::move(unit));
    return units;
  }

  void addUnits(OpResult value, int64_t bytes, Operation *place, SmallVector<Unit> &units,
                llvm::MapVector<Value, Unit> &keeping) {
    using enum Rematerializer::DeadOperands;
    const size_t mark = values.mark();
    if (std::optional<Rematerializer::Added> added = values.evict(value, place, ComputeAgain))
      units.push_back({{value}, ComputeAgain, bytes, priceOf(*added)});
    values.undoTo(mark);
    SmallVector<Value> dead = values.findDeadOperands(value, place);
    if (dead.size() != 1)
      return;
    Unit &unit = keeping[dead.front()];
    if (unit.values.empty())
      unit = {{}, Keep, -PlannedValue::bytesOf(dead.front()), 0};
    unit.values.push_back(value);
    unit.bytes += bytes;
    unit.time += times.of(value.getOwner());
  }

  /// The rung that is cheapest for its bytes or, where that frees more than is needed, the one that
  /// takes the least time to free as much.
  template <typename Rungs> std::optional<Rung> choose(Rungs rungs) const {
    const int64_t needed = liveBytes() - budget;
    auto timePerByte = [](const Rung &rung) {
      return rung.getTime() / static_cast<double>(rung.getBytes());
    };
    auto countFor = [&](const Rung &rung) {
      return (needed + rung.getBytes() - 1) / rung.getBytes();
    };
    auto suffices = [&](const Rung &rung) {
      return countFor(rung) <= static_cast<int64_t>(rung.units.size());
    };
    auto timeFor = [&](const Rung &rung) {
      return static_cast<double>(countFor(rung)) * rung.getTime();
    };
    const Rung *best = nullptr;
    for (const Rung &rung : rungs)
      if (!best || timePerByte(rung) < timePerByte(*best))
        best = &rung;
    if (!best)
      return std::nullopt;
    if (suffices(*best))
      for (const Rung &rung : rungs)
        if (suffices(rung) && timeFor(rung) < timeFor(*best))
          best = &rung;
    return *best;
  }

  /// Of the arena, while the function runs.
  int64_t liveBytes() const {
    return analysis.getFixedBytes() + function.getLive()[function.getPeakTime()];
  }

  /// The time of all that is computed for the sake of an eviction. Copies that others have paid for
  /// count too where they move up: from there on they wait for their own readers.
  double priceOf(const Rematerializer::Added &added) {
    double price = timeOfCopies(added);
    for (Operation *copy : added.moved)
      price += times.of(copy);
    return price;
  }
  double timeOfCopies(const Rematerializer::Added &added) {
    double time = 0;
    for (auto [copy, original, part] : added.copies)
      time += part * times.of(original);
    return time;
  }

  /// Bytes of a result that is alive at a place, not used there, and needed later; 0: it is not.
  static int64_t bytesWaiting(OpResult value, Operation *place) {
    if (!isa<KernelOp, LibraryCallOpInterface>(value.getOwner()))
      return 0;
    bool isLate = false;
    for (OpOperand *use : findReaders(value)) {
      if (use->getOwner() == place)
        return 0;
      isLate |= place->isBeforeInBlock(use->getOwner());
    }
    return isLate ? PlannedValue::bytesOf(value) : 0;
  }

  OrderScore score() { return OrderModel(function).scoreAsItIs(); }

  /// Computes one unit after the other again, while the peak falls.
  LogicalResult climb(const Rung &rung) {
    for (const Unit &unit : rung.units) {
      OrderModel model(function);
      OrderScore before = model.scoreAsItIs();
      const size_t mark = values.mark();
      double price = 0, added = 0;
      bool isPossible = evict(unit, model.getOperation(model.getPeakPlace()), price, added);
      FailureOr<bool> isReached = fits();
      if (failed(isReached))
        return failure();
      const bool isDearer = price > rung.getTime() * 1.01;
      if (!isPossible || isDearer || !(score() < before)) {
        refused.insert({unit.values.front(), unit.values.size()});
        values.undoTo(mark);
        if (failed(analysis.getPlan()))
          return failure();
        continue;
      }
      ++count;
      time += added;
      remark::passed(unit.values.front().getLoc(),
                     remark::RemarkOpts::name("again").category("mtc-recompute"))
          << remark::metric("bytes", unit.bytes) << remark::metric("values", unit.values.size());
      if (*isReached)
        return success();
    }
    return success();
  }

  /// Adds to the price of the eviction, and to the time of what is computed more often.
  bool evict(const Unit &unit, Operation *place, double &price, double &addedTime) {
    for (OpResult value : unit.values) {
      std::optional<Rematerializer::Added> added = values.evict(value, place, unit.dead);
      if (!added)
        return false;
      times.add(*added);
      price += priceOf(*added);
      addedTime += timeOfCopies(*added);
    }
    return true;
  }

  /// A value of a smaller part of the peak is not worth computing again.
  static constexpr int64_t leastPart = 4096;

  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  Times &times;
  const int64_t budget;
  Rematerializer values;
  llvm::DenseSet<std::pair<Value, size_t>> refused; ///< By their first value and size.
  size_t count = 0;
  double time = 0;
};

struct RecomputePass : PassWithOptions<mtc::impl::RecomputeBase<RecomputePass>, RecomputeOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<RecomputeOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->recompute == "none" || (options->recompute == "auto" && options->memory == 0))
      return;
    const int64_t budget = options->recompute == "all" ? 0 : options->memory;
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    Times times(getOperation());
    for (const FunctionMemory &function : analysis.getFunctions()) {
      if (function.writesTransients())
        continue;
      const double time = times.ofFunction(function.getFunction());
      Ladder ladder(function, analysis, times, budget);
      if (failed(ladder.climb()))
        return signalPassFailure();
      if (ladder.getCount())
        remark::passed(function.getFunction().getLoc(),
                       remark::RemarkOpts::name("recomputed").category("mtc-recompute"))
            << remark::add("{0} operations of {1}, {2} % of its time", ladder.getCount(),
                           function.getFunction().getSymName(),
                           llvm::formatv("{0:f1}", 100 * ladder.getTime() / time).str());
    }
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createRecompute(const RecomputeOptions &options) {
  return std::make_unique<RecomputePass>(options);
}

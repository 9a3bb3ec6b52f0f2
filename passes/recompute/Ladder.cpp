//===- Ladder.cpp - What is computed again, the cheapest bytes first --------------------------===//

#include "passes/recompute/Ladder.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

/// A value of a smaller part of the peak is not worth computing again.
static constexpr int64_t leastPart = 4096;

/// Bytes of a result that is alive at a place, not used there, and needed later; 0: it is not.
static int64_t bytesWaiting(OpResult value, Operation *place, const BlockOrder &order) {
  if (!isa<KernelOp, LibraryCallOpInterface>(value.getOwner()))
    return 0;
  bool isLate = false;
  for (OpOperand *use : findReaders(value)) {
    if (use->getOwner() == place)
      return 0;
    isLate |= order.isBefore(place, use->getOwner());
  }
  return isLate ? PlannedValue::bytesOf(value) : 0;
}

LogicalResult Ladder::climb() {
  while (true) {
    FailureOr<bool> isReached = fits();
    if (failed(isReached))
      return failure();
    reached = *isReached;
    if (reached)
      return success();
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

LogicalResult Ladder::undo() {
  values.undoTo(0);
  refused.clear();
  reached = false;
  count = 0;
  time = 0;
  return analysis.getPlan();
}

/// Of the arena, while the function runs.
int64_t Ladder::liveBytes() const {
  return analysis.getFixedBytes() + function.getLive()[function.getPeakTime()];
}

/// Whether the function needs no more than the budget leaves it, and its placement neither.
FailureOr<bool> Ladder::fits() {
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  if (failed(plan))
    return failure();
  excess = liveBytes() - budget;
  if (excess > 0)
    return false;
  if (plan->live > liveBytes()) // Another function needs more; that is its own affair.
    return true;
  plan = analysis.getPlanWithLayout();
  if (failed(plan))
    return failure();
  excess = plan->peak - budget;
  return excess <= 0;
}

//===------------------------------------------------------------------------------------------===//
// The next rung
//===------------------------------------------------------------------------------------------===//

/// The rung to climb next, of those that are not known to be of no use.
std::optional<Ladder::Rung> Ladder::findRung() {
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
  return choose(llvm::to_vector(llvm::make_second_range(rungs)));
}

/// What can be computed again so that less is alive at the peak: each value by itself, with what
/// it needs, and values together for whose sake one is kept that their operations read.
SmallVector<Ladder::Unit> Ladder::findUnits(const OrderModel &model) {
  SmallVector<Unit> units;
  llvm::MapVector<Value, Unit> keeping;
  Operation *place = model.getOperation(model.getPeakPlace());
  for (unsigned node = 0; node < model.getPeakPlace(); ++node)
    for (OpResult value : model.getOperation(node)->getResults())
      if (int64_t bytes = bytesWaiting(value, place, values.getOrder());
          bytes * leastPart >= liveBytes())
        addUnits(value, bytes, place, units, keeping);
  for (auto &[value, unit] : keeping)
    units.push_back(std::move(unit));
  return units;
}

void Ladder::addUnits(OpResult value, int64_t bytes, Operation *place, SmallVector<Unit> &units,
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

/// How many of a rung's units free what is needed.
int64_t Ladder::countFor(const Rung &rung) const {
  return (excess + rung.getBytes() - 1) / rung.getBytes();
}

/// The rung that is cheapest for its bytes or, where that frees more than is needed, the one that
/// takes the least time to free as much.
std::optional<Ladder::Rung> Ladder::choose(ArrayRef<Rung> rungs) const {
  auto timePerByte = [](const Rung &rung) {
    return rung.getTime() / static_cast<double>(rung.getBytes());
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

/// The time of all that is computed for the sake of an eviction. Copies that others have paid for
/// count too where they move up: from there on they wait for their own readers.
double Ladder::priceOf(const Rematerializer::Added &added) {
  double price = times.of(added);
  for (Operation *copy : added.moved)
    price += times.of(copy);
  return price;
}

//===------------------------------------------------------------------------------------------===//
// Climbing
//===------------------------------------------------------------------------------------------===//

/// Adds to the price of the eviction, and to the time of what is computed more often.
bool Ladder::evict(const Unit &unit, Operation *place, double &price, double &addedTime) {
  for (OpResult value : unit.values) {
    std::optional<Rematerializer::Added> added = values.evict(value, place, unit.dead);
    if (!added)
      return false;
    times.add(*added);
    price += priceOf(*added);
    addedTime += times.of(*added);
  }
  return true;
}

/// Evicts units, but for those that are impossible or dearer than they were.
Ladder::Step Ladder::apply(ArrayRef<Unit> units, double price, Operation *place) {
  Step step;
  for (const Unit &unit : units) {
    const size_t mark = values.mark();
    double own = 0, added = 0;
    if (!evict(unit, place, own, added) || own > price * 1.01) {
      values.undoTo(mark);
      refuse(unit);
      continue;
    }
    ++step.applied;
    step.bytes += unit.bytes;
    step.time += added;
  }
  return step;
}

/// Evicts a rung's units while the peak falls: more and more at once as long as it falls by all
/// that they free, one by one where it does not.
LogicalResult Ladder::climb(const Rung &rung) {
  size_t together = 1;
  auto score = [&](Operation *&place) {
    OrderModel model(function);
    OrderScore found = model.scoreAsItIs();
    place = model.getOperation(model.getPeakPlace());
    return found;
  };
  Operation *place = nullptr;
  OrderScore before = score(place);
  for (ArrayRef<Unit> rest = rung.units; !rest.empty();) {
    const auto most = static_cast<size_t>(std::max<int64_t>(countFor(rung), 1));
    ArrayRef<Unit> units = rest.take_front(std::min(together, most));
    const size_t mark = values.mark();
    Step step = apply(units, rung.getTime(), place);
    FailureOr<bool> isReached = fits();
    if (failed(isReached))
      return failure();
    Operation *changedPlace = nullptr;
    OrderScore after = score(changedPlace);
    const bool isTooMany = units.size() > 1 && after.peak > before.peak - step.bytes;
    if (isTooMany || !(after < before)) {
      values.undoTo(mark);
      if (failed(analysis.getPlan()))
        return failure();
      if (isTooMany) {
        together = units.size() / 2;
        continue;
      }
      for (const Unit &unit : units)
        refuse(unit);
      rest = rest.drop_front(units.size());
      continue;
    }
    before = after;
    place = changedPlace;
    count += step.applied;
    time += step.time;
    together *= 2;
    rest = rest.drop_front(units.size());
    for (const Unit &unit : units)
      if (!refused.contains({unit.values.front(), unit.values.size()}))
        remark::passed(unit.values.front().getLoc(),
                       remark::RemarkOpts::name("again").category("mtc-recompute"))
            << remark::metric("bytes", unit.bytes) << remark::metric("values", unit.values.size());
    if (*isReached)
      return success();
  }
  return success();
}

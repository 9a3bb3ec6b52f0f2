//===- Recomputation.cpp - Reduction of peak memory by recomputation --------------------------===//

#include "passes/recompute/Recomputation.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

/// Returns the split of the function if it will be split and a value is one of the forward part.
const MicroStepSplit *Recomputation::findSplitOf(Value value) const {
  const MicroStepSplit *split = budget.function.getSplit();
  return split && value.getDefiningOp() && split->isForward(value.getDefiningOp()) ? split
                                                                                   : nullptr;
}

/// Returns the operation after which uses of a value are late. The slots of a saved value of a
/// micro-step are occupied at every peak, until the backward part does not use it.
Operation *Recomputation::placeFor(Value value, Operation *place) const {
  const MicroStepSplit *split = findSplitOf(value);
  return split && split->isSaved(value) ? split->getLastForward() : place;
}

/// Returns the bytes that a value occupies while it waits for late uses.
int64_t Recomputation::bytesOf(Value value) const {
  const MicroStepSplit *split = findSplitOf(value);
  return (split && split->isSaved(value) ? split->getCopies() : 1) * PlannedValue::bytesOf(value);
}

/// Returns the bytes of a result that is live at `place`, not used there, and used later; 0 for
/// other results.
int64_t Recomputation::bytesWaiting(OpResult value, Operation *place) {
  if (!computes(value.getOwner()))
    return 0;
  const BlockOrder &order = getValues().getOrder();
  if (const MicroStepSplit *split = findSplitOf(value))
    if (split->findSent(value) || !order.isBefore(value.getOwner(), place))
      return 0; // It has the slot of a message in any case, or is computed later.
  bool isLate = false;
  for (OpOperand *use : findUses(value)) {
    if (use->getOwner() == place)
      return 0;
    isLate |= order.isBefore(place, use->getOwner());
  }
  return isLate ? bytesOf(value) : 0;
}

/// Returns the rematerializer for the current state of the function.
Rematerializer &Recomputation::getValues() {
  if (!values)
    values = std::make_unique<Rematerializer>(budget.function.getFunction().front(), listeners);
  return *values;
}

void Recomputation::noticeChange() {
  values.reset();
  refused.clear(); // The peak may have changed.
  retention.forgetErased();
}

LogicalResult Recomputation::startOver() {
  if (failed(segments.recompute()))
    return failure();
  retention.add(segments.getCopies());
  return success();
}

LogicalResult Recomputation::finish() {
  FailureOr<double> saved = retention.dropSuperfluous();
  if (failed(saved))
    return failure();
  time -= *saved;
  return budget.analysis.update();
}

void Recomputation::report() const {
  for (const Taken &unit : taken)
    remark::passed(unit.location, remark::RemarkOpts::name("again").category("mtc-recompute"))
        << remark::metric("bytes", unit.bytes) << remark::metric("values", unit.values);
  reportRecomputed(budget, times, segments.getCount() + taken.size(), segments.getTime() + time);
}

//===------------------------------------------------------------------------------------------===//
// Selection of the next candidate
//===------------------------------------------------------------------------------------------===//

FailureOr<std::optional<PeakReducer::Candidate>> Recomputation::findCandidate(int64_t needed) {
  excess = needed;
  llvm::MapVector<std::tuple<size_t, int64_t, int64_t>, UnitGroup> groups;
  for (Unit &unit : findUnits(budget.getPeakOperation()))
    if (!isRefused(unit))
      groups[kindOf(unit)].units.push_back(std::move(unit));
  candidate = choose(llvm::to_vector(llvm::make_second_range(groups)));
  if (!candidate)
    return std::optional<Candidate>();
  const int64_t count =
      std::min(countFor(*candidate), static_cast<int64_t>(candidate->units.size()));
  return std::optional(
      Candidate{count * candidate->getBytes(), static_cast<double>(count) * candidate->getTime()});
}

/// Returns a key that is equal for corresponding units of equal layers.
std::tuple<size_t, int64_t, int64_t> Recomputation::kindOf(const Unit &unit) {
  OpResult first = unit.values.front();
  return {llvm::hash_combine(getValues().hashOf(first.getOwner()), first.getResultNumber(),
                             unit.values.size(), unit.isTogether),
          unit.bytes, static_cast<int64_t>(1e12 * unit.time)};
}

/// Returns the units whose recomputation lowers the live bytes at a place. A unit is a single
/// value, for which dead operands are recomputed too; a group of values for which one shared dead
/// operand is saved instead; or the results of an operation with many results. If `like` is given,
/// only units of its kind are of interest.
SmallVector<Recomputation::Unit> Recomputation::findUnits(Operation *place, const Unit *like) {
  SmallVector<Unit> units;
  const bool isAnyValue = !like || (like->values.size() > 1 && !like->isTogether);
  const size_t hash = isAnyValue ? 0 : getValues().hashOf(like->values.front().getOwner());
  llvm::MapVector<Value, Unit> keeping;
  double lowest = std::numeric_limits<double>::infinity(); // Price per byte of the best value.
  int64_t end = budget.function[place].time;
  if (const MicroStepSplit *split = budget.function.getSplit())
    end = std::max(end, budget.function[split->getLastForward()].time);
  for (const PlannedOperation *op : budget.function.getOrder().take_front(end)) {
    if (budget.isTimeUp())
      break;
    if (!like || (like->isTogether && getValues().hashOf(op->op) == hash))
      if (std::optional<Unit> unit = findTogether(op->op, place)) {
        units.push_back(std::move(*unit));
        continue;
      }
    if (like && like->isTogether)
      continue;
    for (OpResult value : op->op->getResults())
      if (int64_t bytes = bytesWaiting(value, placeFor(value, place));
          isWorthwhile(bytes) && (isAnyValue || getValues().hashOf(op->op) == hash)) {
        const size_t known = units.size();
        const auto useful = static_cast<double>(std::clamp<int64_t>(excess, 1, bytes));
        addUnits(value, bytes, placeFor(value, place), like ? like->time : lowest * useful, units,
                 keeping);
        if (units.size() > known && !isRefused(units.back()))
          lowest = std::min(lowest, pricePerByte(units.back()));
      }
  }
  for (auto &[value, unit] : keeping)
    if (isWorthwhile(unit.bytes))
      units.push_back(std::move(unit));
  return units;
}

/// Returns the late results of an operation, without those that operations before the place also
/// use: they stay live, and the others are recomputed from them. Returns nothing if there are few
/// results, which are recomputed one by one.
std::optional<Recomputation::Unit> Recomputation::findTogether(Operation *op, Operation *place) {
  constexpr size_t many = 16;
  if (op->getNumResults() < many)
    return std::nullopt;
  const BlockOrder &order = getValues().getOrder();
  for (OpResult value : op->getResults())
    if (Operation *own = placeFor(value, place); own != place)
      return findTogether(op, own); // The saved results are recomputed together.
  Unit unit;
  unit.isTogether = true;
  for (OpResult value : op->getResults())
    if (int64_t bytes = bytesWaiting(value, place);
        bytes > 0 && llvm::all_of(findUses(value), [&](OpOperand *use) {
          return order.isBefore(place, use->getOwner());
        })) {
      unit.values.push_back(value);
      unit.bytes += bytes;
    }
  if (unit.values.size() < many || !isWorthwhile(unit.bytes) || isRefused(unit))
    return std::nullopt;
  const size_t mark = getValues().mark();
  std::optional<Rematerializer::Added> added = getValues().evictTogether(unit.values, place);
  if (added)
    unit.time = priceOf(*added);
  getValues().undoTo(mark);
  return added ? std::optional(unit) : std::nullopt;
}

/// Tries the eviction of one value for all values of equal layers, except if it would take much
/// more than `maxTime` seconds.
Recomputation::Trial Recomputation::tryOut(OpResult value, Operation *place, double maxTime) {
  constexpr double maxParts = 4;
  Rematerializer &values = getValues();
  auto findDead = [&]() -> std::optional<unsigned> {
    SmallVector<unsigned> dead = values.findDeadOperands(value, place);
    return dead.size() == 1 ? std::optional(dead.front()) : std::nullopt;
  };
  std::optional<size_t> hash = values.hashEviction(value, place, times, maxParts * maxTime);
  if (!hash)
    return {std::nullopt, findDead()};
  auto [entry, isNew] = trials.try_emplace(*hash);
  Trial &trial = entry->second;
  if (isNew) {
    const size_t mark = values.mark();
    if (auto added = values.evict(value, place, Rematerializer::DeadOperands::ComputeAgain))
      trial.price = priceOf(*added);
    values.undoTo(mark);
    trial.dead = findDead();
  }
  return trial;
}

/// Returns the time per byte that is needed and freed.
double Recomputation::pricePerByte(const Unit &unit) const {
  return unit.time / static_cast<double>(std::clamp<int64_t>(excess, 1, unit.bytes));
}

void Recomputation::addUnits(OpResult value, int64_t bytes, Operation *place, double maxTime,
                             SmallVector<Unit> &units, llvm::MapVector<Value, Unit> &keeping) {
  using enum Rematerializer::DeadOperands;
  const Trial trial = tryOut(value, place, maxTime);
  if (trial.price)
    units.push_back({{value}, ComputeAgain, bytes, *trial.price});
  if (!trial.dead)
    return;
  const Value dead = rootOf(value.getOwner()->getOperand(*trial.dead));
  Unit &unit = keeping[dead];
  const bool isFree = isImproving && budget.function[dead].lastUse >= budget.function[place].time;
  const int64_t copies = bytes / PlannedValue::bytesOf(value); // It is saved like the value.
  if (unit.values.empty())
    unit = {{}, Keep, isFree ? 0 : -copies * PlannedValue::bytesOf(dead), 0};
  unit.values.push_back(value);
  unit.bytes += bytes;
  unit.time += times.of(value.getOwner());
}

/// Returns the number of units of a group that free the required bytes.
int64_t Recomputation::countFor(const UnitGroup &group) const {
  return (excess + group.getBytes() - 1) / group.getBytes();
}

/// Returns the group with the lowest time per byte or, if this one frees more than required, the
/// group that frees the required bytes in the shortest time.
std::optional<Recomputation::UnitGroup> Recomputation::choose(ArrayRef<UnitGroup> groups) const {
  auto timePerByte = [](const UnitGroup &group) {
    return group.getTime() / static_cast<double>(group.getBytes());
  };
  auto suffices = [&](const UnitGroup &group) {
    return countFor(group) <= static_cast<int64_t>(group.units.size());
  };
  auto timeFor = [&](const UnitGroup &group) {
    return static_cast<double>(countFor(group)) * group.getTime();
  };
  const UnitGroup *best = nullptr;
  for (const UnitGroup &group : groups)
    if (!best || timePerByte(group) < timePerByte(*best))
      best = &group;
  if (!best)
    return std::nullopt;
  if (suffices(*best))
    for (const UnitGroup &group : groups)
      if (suffices(group) && timeFor(group) < timeFor(*best))
        best = &group;
  return *best;
}

/// Returns the time of all operations computed for an eviction. Existing copies that move up count
/// again, since they are then live until their own users.
double Recomputation::priceOf(const Rematerializer::Added &added) {
  double price = added.time(times);
  for (Operation *copy : added.moved)
    price += times.of(copy);
  return price;
}

//===------------------------------------------------------------------------------------------===//
// Application of a candidate
//===------------------------------------------------------------------------------------------===//

/// Adds the cost of the eviction to `price`, and the additional operations to `step`.
bool Recomputation::evict(const Unit &unit, Operation *place, double &price, Step &step) {
  auto add = [&](const std::optional<Rematerializer::Added> &added) {
    if (!added)
      return false;
    step.time += added->remember(times);
    llvm::append_range(step.copies, added->copies);
    price += priceOf(*added);
    return true;
  };
  if (unit.isTogether)
    return add(getValues().evictTogether(unit.values, placeFor(unit.values.front(), place)));
  return llvm::all_of(unit.values, [&](OpResult value) {
    return add(getValues().evict(value, placeFor(value, place), unit.dead));
  });
}

Recomputation::Step &Recomputation::Step::operator+=(const Step &other) {
  llvm::append_range(applied, other.applied);
  llvm::append_range(copies, other.copies);
  bytes += other.bytes;
  time += other.time;
  return *this;
}

/// Evicts units, except those that are impossible or more expensive than estimated.
Recomputation::Step Recomputation::apply(ArrayRef<Unit> units, double price, Operation *place) {
  Step step;
  for (const Unit &unit : units) {
    const size_t mark = getValues().mark();
    double own = 0;
    Step added;
    if (!evict(unit, place, own, added) || own > price * 1.01) {
      getValues().undoTo(mark);
      refuse(unit);
      continue;
    }
    added.applied.push_back(unit);
    added.bytes = unit.bytes;
    step += added;
  }
  return step;
}

/// Returns operations of other layers that are equal to the one at the peak and at which about as
/// much memory is live.
SmallVector<Operation *> Recomputation::findEqualPlaces() {
  ArrayRef<int64_t> live = budget.function.getLive();
  Operation *place = budget.getPeakOperation();
  const int64_t peak = live[budget.function.getPeakTime()];
  const size_t hash = getValues().hashOf(place);
  SmallVector<Operation *> places;
  for (const PlannedOperation *op : budget.function.getOrder())
    if (op->op != place && !budget.isWorthwhile(peak - live[op->time]) &&
        getValues().hashOf(op->op) == hash)
      places.push_back(op->op);
  return places;
}

/// Evicts units like the one that was evicted at the peak at the equal places of other layers.
LogicalResult Recomputation::takeEqual(const Unit &like, ArrayRef<Operation *> places) {
  const OrderScore before = budget.score();
  const size_t mark = getValues().mark();
  const auto kind = kindOf(like);
  Step step;
  for (Operation *place : places) {
    if (budget.isTimeUp())
      break;
    for (const Unit &unit : findUnits(place, &like))
      if (kindOf(unit) == kind) {
        step += apply(unit, like.time, place);
        break;
      }
  }
  FailureOr<int64_t> changed = budget.findExcess();
  if (failed(changed))
    return failure();
  if (before < budget.score()) {
    getValues().undoTo(mark);
    return budget.analysis.update();
  }
  excess = *changed;
  add(step);
  return success();
}

void Recomputation::add(const Step &step) {
  for (const Unit &unit : step.applied)
    taken.push_back({unit.values.front().getLoc(), unit.bytes, unit.values.size()});
  retention.add(step.copies);
  time += step.time;
}

/// Evicts units of the candidate until the function meets the budget or the peak no longer
/// falls. The number of units evicted at once doubles as long as the peak falls by all the bytes
/// that they free, and is halved otherwise. If the budget is not met, also evicts equal units of
/// equal layers where about as much memory is live.
FailureOr<bool> Recomputation::applyCandidate() {
  const SmallVector<Operation *> equalPlaces = findEqualPlaces();
  size_t together = 1;
  Operation *place = budget.getPeakOperation();
  OrderScore before = budget.score();
  const size_t known = taken.size();
  for (ArrayRef<Unit> rest = candidate->units; !rest.empty() && excess > 0 && !budget.isTimeUp();) {
    const auto maxCount = static_cast<size_t>(countFor(*candidate));
    ArrayRef<Unit> units = rest.take_front(std::min(together, maxCount));
    const size_t mark = getValues().mark();
    Step step = apply(units, candidate->getTime(), place);
    FailureOr<int64_t> changed = budget.findExcess();
    if (failed(changed))
      return failure();
    const OrderScore after = budget.score();
    const bool isTooMany = units.size() > 1 && after.peak > before.peak - step.bytes;
    if (isTooMany || !(after < before)) {
      getValues().undoTo(mark);
      if (failed(budget.analysis.update()))
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
    place = budget.getPeakOperation();
    excess = *changed;
    add(step);
    together *= 2;
    rest = rest.drop_front(units.size());
  }
  if (taken.size() == known)
    return false;
  if (excess > 0 && !equalPlaces.empty() &&
      failed(takeEqual(candidate->units.front(), equalPlaces)))
    return failure();
  refused.clear(); // The peak may have changed.
  return true;
}

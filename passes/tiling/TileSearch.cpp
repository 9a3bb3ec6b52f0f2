//===- TileSearch.cpp - Reduction of peak memory by tiling ------------------------------------===//

#include "passes/tiling/TileSearch.h"

#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

/// Values smaller than 1/minPart of the live bytes at the peak are not tried.
static constexpr int64_t minPart = 32;
static constexpr size_t maxValues = 6;
static constexpr int64_t maxTiles = 64;

/// Returns the largest values that are computed or live at the peak.
SmallVector<Value> TileSearch::findValues() const {
  const FunctionMemory &function = budget.function;
  const int64_t peak = function.getPeakTime(), live = function.getLive()[peak];
  SmallVector<Value> values;
  llvm::DenseMap<Value, std::pair<int64_t, size_t>> ranks; // Largest first, ties in schedule order.
  for (const PlannedOperation *op : function.getOrder())
    for (const PlannedValue &result : op->results)
      if (op->isCompute && op->time <= peak && peak <= result.lastUse &&
          result.bytes * minPart >= live) {
        ranks[result.value] = {-result.bytes, values.size()};
        values.push_back(result.value);
      }
  llvm::sort(values, [&](Value a, Value b) { return ranks.lookup(a) < ranks.lookup(b); });
  values.truncate(std::min(values.size(), maxValues));
  return values;
}

/// Returns the bytes freed and the time added by tiling a region, if the peak falls. Undoes the
/// change; the memory plan is that of the tiled function.
FailureOr<TileSearch::Trial> TileSearch::tryOut(Value value, const TileRegion &region,
                                                const OrderScore &before) {
  const FunctionMemory &function = budget.function;
  double time = 0;
  for (Operation *op : region.getOperations())
    time -= times.of(op);
  TileWriter writer(listeners);
  SmallVector<Operation *, 0> added = writer.write(region);
  for (Operation *op : added)
    time += times.of(op);
  if (failed(budget.analysis.update()))
    return failure();
  int64_t left = 0;
  for (Operation *op : added)
    left = std::max(left, function.getLive()[function[op].time]);
  const OrderScore score = budget.score();
  writer.undo();
  if (!(score < before))
    return Trial{std::nullopt, /*isElsewhere=*/left < score.peak};
  if (!budget.isWorthwhile(before.peak - left))
    return Trial{std::nullopt, /*isElsewhere=*/false};
  const int64_t lowers = before.peak - score.peak;
  return Trial{Choice{{before.peak - left, time}, value, value.getLoc(), region.getCount(), lowers},
               /*isElsewhere=*/false};
}

TileSearch::Plan::Plan(const FunctionMemory &function) {
  for (const PlannedOperation *op : function.getOrder()) {
    if (op->isCompute || op->isAssembly)
      times[op->op] = op->time;
    for (const PlannedValue &value : op->results)
      // A value that is written to a variable may be computed in the variable's buffer.
      if (value.writers.empty() && value.buffer && !value.buffer->fixedOffset &&
          value.buffer->space == MemorySpace::Device)
        values.push_back({op->time, value.lastUser->time, value.bytes});
  }
}

int64_t TileSearch::Plan::findBytesLeft(const TileRegion &region) const {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0, left = 0;
  for (Operation *op : region.getOperations()) {
    const int64_t time = times.at(op);
    begin = std::min(begin, time);
    end = std::max(end, time);
    for (Value result : op->getResults())
      if (region.isReadOutside(result) && llvm::all_of(findUses(result), [](OpOperand *use) {
            return writtenVariables(use->getOwner()).empty();
          }))
        left += PlannedValue::bytesOf(result);
  }
  for (const Lifetime &value : values) {
    if (value.begin >= begin)
      break;
    if (value.lastRead > end)
      left += value.bytes;
  }
  return left;
}

/// Returns the region that computes a value in tiles. The memory plan may be that of a trial that
/// has been undone.
std::optional<TileRegion> TileSearch::findRegion(Value value, int64_t count) const {
  std::optional<MicroStepSplit> split;
  if (budget.function.getSplit())
    if (auto found = MicroStepSplit::find(budget.function.getFunction()))
      split.emplace(std::move(*found));
  return TileRegion::find(value, count, split ? &*split : nullptr);
}

/// Tries increasing numbers of tiles. Returns the smallest number that suffices, or one for which a
/// larger number frees little more. Adds to `tried` the values that would lead to the same regions.
FailureOr<std::optional<TileSearch::Choice>> TileSearch::findCount(Value value, int64_t excess,
                                                                   const OrderScore &before,
                                                                   const Plan &plan,
                                                                   llvm::DenseSet<Value> &tried) {
  std::optional<Choice> best;
  SmallVector<Operation *, 0> hopeless; // Operations whose number of tiles does not matter.
  int64_t effortPerTile = 0, lastEffort = 0, lastCount = 0; // Known after two trials.
  for (int64_t count = 2; count <= maxTiles; count *= 2) {
    std::optional<TileRegion> region = findRegion(value, count);
    if (!region)
      break; // Larger counts have no region either.
    for (Operation *op : region->getOperations())
      for (Value result : op->getResults())
        if (!region->isReadOutside(result))
          tried.insert(result);
    FailureOr<Trial> trial = Trial();
    if (budget.isWorthwhile(before.peak - plan.findBytesLeft(*region))) {
      const int64_t effort = budget.analysis.getEffort();
      const bool isHopeless = region->getOperations() == ArrayRef(hopeless);
      if (isHopeless && effortPerTile) { // The effort grows linearly with the number of tiles.
        budget.analysis.addEffort(lastEffort + effortPerTile * (count - lastCount));
        continue;
      }
      trial = tryOut(value, *region, before);
      const int64_t spent = budget.analysis.getEffort() - effort;
      effortPerTile = isHopeless ? (spent - lastEffort) / (count - lastCount) : 0;
      lastEffort = spent;
      lastCount = count;
    }
    if (failed(trial))
      return failure();
    const std::optional<Choice> &choice = trial->choice;
    if (best && (!choice || 10 * choice->bytes < 11 * best->bytes))
      break;
    if (trial->isElsewhere)
      hopeless.assign(region->getOperations().begin(), region->getOperations().end());
    if (choice)
      best = *choice;
    if (best && best->lowers >= excess)
      break;
  }
  return best;
}

/// Returns the cached trial of a value if it is still valid, that is, if the peak was about as high
/// then. A change of another technique may have raised it elsewhere, where the tiling helps.
const TileSearch::Known *TileSearch::findKnown(Value value, int64_t peak, int64_t excess) const {
  auto found = known.find(value);
  if (found == known.end() || found->second.peak * 63 > peak * 64 ||
      peak * 63 > found->second.peak * 64)
    return nullptr;
  const std::optional<Choice> &choice = found->second.choice;
  return choice && choice->lowers >= excess ? nullptr : &found->second;
}

FailureOr<std::optional<PeakReducer::Candidate>> TileSearch::findCandidate(int64_t excess) {
  candidate.reset();
  double lowest = 0;
  const OrderScore before = budget.score();
  std::optional<Plan> plan; // Trials change the analysis.
  for (Value value : findValues()) {
    const Known *found = findKnown(value, before.peak, excess);
    if (!found) {
      if (!plan)
        plan.emplace(budget.function);
      llvm::DenseSet<Value> tried;
      auto choice = findCount(value, excess, before, *plan, tried);
      if (failed(choice))
        return failure();
      for (Value other : tried)
        known.insert_or_assign(other, Known{before.peak, std::nullopt});
      found = &known.insert_or_assign(value, Known{before.peak, *choice}).first->second;
    }
    if (!found->choice)
      continue;
    Choice choice = *found->choice;
    // A tiling that does not suffice counts with the bytes it frees here, even if the new peak is
    // elsewhere.
    if (choice.lowers >= excess)
      choice.bytes = excess;
    const double price = choice.time / static_cast<double>(choice.bytes);
    if (!candidate || price < lowest) {
      candidate = choice;
      lowest = price;
    }
  }
  if (failed(budget.analysis.update()))
    return failure();
  return candidate ? std::optional<Candidate>(*candidate) : std::nullopt;
}

/// Returns the value and the corresponding values of equal layers that are live while about as much
/// memory is live.
SmallVector<Value> TileSearch::findEqual(Value value) const {
  ArrayRef<int64_t> live = budget.function.getLive();
  const int64_t peak = live[budget.function.getPeakTime()];
  auto hashOf = [&](Value of) {
    Operation *op = of.getDefiningOp();
    return std::tuple(OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                        OperationEquivalence::ignoreHashValue,
                                                        OperationEquivalence::IgnoreLocations),
                      cast<OpResult>(of).getResultNumber(), times.of(op));
  };
  const auto hash = hashOf(value);
  SmallVector<Value> equal{value};
  for (const PlannedOperation *op : budget.function.getOrder())
    for (const PlannedValue &result : op->results)
      if (op->isCompute && result.value != value && result.value.getType() == value.getType() &&
          hashOf(result.value) == hash &&
          !budget.isWorthwhile(peak - *llvm::max_element(live.slice(
                                          static_cast<size_t>(op->time),
                                          static_cast<size_t>(result.lastUse - op->time + 1)))))
        equal.push_back(result.value);
  return equal;
}

FailureOr<bool> TileSearch::applyCandidate() {
  const OrderScore before = budget.score();
  TileWriter writer(listeners);
  std::vector<Choice> changed;
  size_t size = 0;
  llvm::DenseSet<Operation *> replaced;
  for (Value value : findEqual(candidate->value)) {
    if (replaced.contains(value.getDefiningOp()))
      continue;
    std::optional<TileRegion> region = findRegion(value, candidate->count);
    if (!region || (!changed.empty() && region->getOperations().size() != size))
      continue;
    size = region->getOperations().size();
    replaced.insert_range(region->getOperations());
    changed.push_back(*candidate);
    changed.back().location = value.getLoc();
    writer.write(*region);
  }
  if (failed(budget.analysis.update()))
    return failure();
  if (!(budget.score() < before)) { // The trial was made at another peak.
    writer.undo();
    known.insert_or_assign(candidate->value, Known{before.peak, std::nullopt});
    if (failed(budget.analysis.update()))
      return failure();
    return false;
  }
  llvm::append_range(taken, changed);
  known.clear(); // Values may have been erased.
  return true;
}

void TileSearch::report() const {
  for (const Choice &choice : taken)
    remark::passed(choice.location, remark::RemarkOpts::name("in_tiles").category("mtc-tile"))
        << remark::metric("tiles", choice.count) << remark::metric("bytes", choice.bytes)
        << remark::metric("milliseconds", 1e3 * choice.time);
}

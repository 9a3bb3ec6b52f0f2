//===- ActivationOffload.cpp - Reduction of peak memory by offloading of activations ----------===//

#include "passes/offload/ActivationOffload.h"

#include "passes/offload/MovedUses.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

/// Smaller copies are dominated by their start-up latency.
static constexpr int64_t minBytes = 16 << 10;
/// The number of kinds of values that are priced for a candidate.
static constexpr size_t maxKinds = 4;

ActivationOffload::ActivationOffload(const FunctionBudget &budget, OperationTimes &times)
    : budget(budget), times(times), target(TargetInfo::of(budget.function.getFunction())),
      listeners(budget.analysis, times), edits(listeners) {}

void ActivationOffload::noticeChange() {
  candidate.reset();
  refused.clear(); // The peak may have changed.
}

void ActivationOffload::report() const {
  reportMoved(budget.function.getFunction()->getParentOfType<ModuleOp>(), count, bytes);
}

void mtc::reportMoved(ModuleOp module, size_t count, int64_t bytes) {
  if (!count)
    return;
  const MemorySpace space = TargetInfo::of(module).getOffloadSpace();
  remark::passed(module.getLoc(), remark::RemarkOpts::name("moved").category("mtc-offload"))
      << remark::add("{0} values of {1} bytes are in memory space {2} between two uses", count,
                     bytes, stringifyEnum(space));
}

//===------------------------------------------------------------------------------------------===//
// Selection of the next value
//===------------------------------------------------------------------------------------------===//

static size_t kindOf(const PlannedValue &value) {
  return llvm::hash_combine(
      OperationEquivalence::computeHash(value.definition->op, OperationEquivalence::ignoreHashValue,
                                        OperationEquivalence::ignoreHashValue,
                                        OperationEquivalence::IgnoreLocations),
      cast<OpResult>(value.value).getResultNumber(), value.bytes);
}

/// Adds the values that a micro-step saves for its backward part. Their slots are in the other
/// memory space if they are offloaded.
void ActivationOffload::addSaved(Gaps &gaps) const {
  const FunctionMemory &function = budget.function;
  const MicroStepSplit *split = function.getSplit();
  if (!split)
    return;
  const int64_t end = function[split->getLastForward()].time;
  for (Value value : split->getSaved()) {
    const PlannedValue &saved = function[value];
    const int64_t freed = split->getCopies() * saved.bytes;
    if (saved.definition && saved.definition->isCompute && !saved.definition->isMove &&
        !split->findSent(value) && saved.bytes >= minBytes && budget.isWorthwhile(freed) &&
        !refused.contains(value))
      gaps.insert({&saved,
                   {value, saved.bytes, saved.definition->time, saved.lastUse, end, freed,
                    /*isSaved=*/true}});
  }
}

SmallVector<ActivationOffload::Gap, 0> ActivationOffload::findGaps() const {
  const FunctionMemory &function = budget.function;
  const int64_t peak = function.getPeakTime();
  Gaps gaps;
  for (PlannedOperation *op : function.getOrder().take_front(peak))
    for (PlannedValue &result : op->results)
      if (op->isCompute && !op->isMove && result.lastUse > peak && result.bytes >= minBytes &&
          budget.isWorthwhile(result.bytes) && !result.buffer->fixedOffset &&
          !refused.contains(result.value))
        gaps.insert(
            {&result, {result.value, result.bytes, op->time, result.lastUse, peak, result.bytes}});
  addSaved(gaps);
  for (PlannedOperation *op : function.getOrder()) {
    if (op->isView)
      continue;
    for (PlannedValue *operand : op->operands) {
      auto known = gaps.find(operand);
      if (known == gaps.end())
        continue;
      Gap &gap = known->second;
      const bool isAtMiddle = op->time == gap.middle;
      if (op->time < gap.middle || (isAtMiddle && gap.isSaved))
        gap.begin = std::max(gap.begin, op->time);
      else if (op->time > gap.middle)
        gap.end = std::min(gap.end, op->time);
      // A value that is already copied away is only held until the copy has ended.
      gap.isUsedAtPeak |= (isAtMiddle && !gap.isSaved) || op->isMove;
    }
  }
  SmallVector<Gap, 0> found;
  for (auto &[value, gap] : gaps)
    if (!gap.isUsedAtPeak) {
      gap.kind = kindOf(*value);
      gap.number = found.size();
      found.push_back(gap);
    }
  return found;
}

/// Returns two positions: the last one at which the value's memory is kept, because the copy away
/// may still read it, and the one before which the value is fetched. In between, its memory is free
/// where the live bytes are close to the peak.
std::pair<int64_t, int64_t> ActivationOffload::placeCopies(const Gap &gap) const {
  const CopyPlacement placement(budget.function, times, target);
  const int64_t limit = budget.function.getLive()[budget.function.getPeakTime()] -
                        std::min(needed, gap.freed) + (gap.isSaved ? gap.freed : 0);
  return {placement.findRelease(gap.begin, gap.bytes, gap.middle, limit),
          placement.findStart(gap.end, gap.bytes, gap.middle, limit)};
}

TransferTimes ActivationOffload::simulate(ArrayRef<PlannedCopy> added) const {
  return estimateTransfers(budget.function, times, target, budget.analysis.getSlotBytes(), added);
}

double ActivationOffload::priceOf(const Gap &gap, const TransferTimes &before) const {
  auto [release, start] = placeCopies(gap);
  const PlannedCopy copies[] = {{PlannedCopy::Kind::Away, gap.begin, gap.bytes, release},
                                {PlannedCopy::Kind::Fetch, gap.end, gap.bytes, start}};
  return addedSeconds(before, simulate(copies));
}

/// Returns the value with the lowest added time per byte among those with the largest product of
/// bytes and duration of each kind.
std::optional<ActivationOffload::Priced>
ActivationOffload::findCheapest(std::optional<size_t> kind) const {
  llvm::MapVector<size_t, Gap> kinds;
  for (const Gap &gap : findGaps()) {
    if (kind && gap.kind != *kind)
      continue;
    Gap &best = kinds[gap.kind];
    if (!best.value || gap.worth() > best.worth())
      best = gap;
  }
  SmallVector<Gap> gaps(llvm::make_second_range(kinds));
  llvm::sort(gaps, [](const Gap &a, const Gap &b) {
    return std::tuple(-a.worth(), a.begin, a.number) < std::tuple(-b.worth(), b.begin, b.number);
  });
  gaps.truncate(std::min(gaps.size(), maxKinds));
  if (gaps.empty())
    return std::nullopt;
  const TransferTimes before = simulate({});
  std::optional<Priced> cheapest;
  auto perByte = [](const Priced &each) { return each.time / static_cast<double>(each.gap.freed); };
  for (const Gap &gap : gaps)
    if (Priced priced{gap, priceOf(gap, before)}; !cheapest || perByte(priced) < perByte(*cheapest))
      cheapest = priced;
  return cheapest;
}

FailureOr<std::optional<PeakReducer::Candidate>> ActivationOffload::findCandidate(int64_t excess) {
  needed = excess;
  if (!candidate)
    candidate = findCheapest(/*kind=*/std::nullopt);
  return candidate ? std::optional(Candidate{candidate->gap.freed, candidate->time}) : std::nullopt;
}

//===------------------------------------------------------------------------------------------===//
// Application
//===------------------------------------------------------------------------------------------===//

/// Moves a value away in its gap. Returns false, without any change, if a late user is in the text
/// before the forward part of a micro-step ends.
bool ActivationOffload::move(const Gap &gap) {
  const FunctionMemory &function = budget.function;
  auto [release, start] = placeCopies(gap);
  // Operations are visited in block order, since only writes may run later than their position in
  // the block.
  SmallVector<Operation *> late;
  Operation *last = gap.value.getDefiningOp();
  for (PlannedOperation *op : function.getText()) {
    if (op->isView ||
        llvm::none_of(op->operands, [&](PlannedValue *each) { return each->value == gap.value; }))
      continue;
    if (op->time < gap.end)
      last = op->op;
    else
      late.push_back(op->op);
  }
  const CopyPlacement placement(function, times, target);
  Operation *held = release > gap.begin ? placement.getOperation(release) : nullptr;
  Operation *place = start < gap.end ? placement.getOperation(start) : late.front();
  if (gap.isSaved && (place->isBeforeInBlock(last) || llvm::any_of(late, [&](Operation *user) {
                        return user->isBeforeInBlock(last);
                      })))
    return false;
  OpBuilder builder(gap.value.getContext());
  builder.setInsertionPointAfter(last);
  const Location location = gap.value.getLoc();
  auto away = edits.insert(
      MoveOp::create(builder, location, gap.value.getType(), gap.value, target.getOffloadSpace()));
  if (held) {
    builder.setInsertionPointAfter(held);
    edits.insert(HoldOp::create(builder, location, ValueRange(gap.value)));
  }
  builder.setInsertionPoint(place);
  auto back = edits.insert(
      MoveOp::create(builder, location, gap.value.getType(), away, MemorySpace::Device));
  readMoved(edits, late, gap.value, back);
  return true;
}

/// Moves the candidate's value and, until the function meets the budget, equal values of equal
/// layers that are live at the new peak.
FailureOr<bool> ActivationOffload::applyCandidate() {
  const double limit = candidate->time * 1.01;
  const size_t known = count;
  for (std::optional<Priced> next = candidate; next && next->time <= limit && needed > 0;
       next = findCheapest(next->gap.kind)) {
    const OrderScore before = budget.score();
    const size_t mark = edits.mark();
    if (!move(next->gap)) {
      refused.insert(next->gap.value);
      continue;
    }
    FailureOr<int64_t> excess = budget.findExcess();
    if (failed(excess))
      return failure();
    if (!(budget.score() < before)) {
      edits.undoTo(mark);
      refused.insert(next->gap.value);
      if (failed(budget.analysis.update()))
        return failure();
      continue;
    }
    needed = *excess;
    ++count;
    bytes += next->gap.bytes;
  }
  edits.keep();
  candidate.reset();
  if (count > known)
    refused.clear();
  return count > known;
}

//===- VariableOffload.cpp - Reduction of peak memory by offloading of variables -------------===//

#include "passes/offload/VariableOffload.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

VariableOffload::VariableOffload(const Goal &goal, OperationTimes &times, OffloadKind kind,
                                 int64_t window)
    : goal(goal), times(times), module(goal.function.getFunction()->getParentOfType<ModuleOp>()),
      window(window), listeners(goal.analysis, times), edits(listeners),
      groups(collectGroups(module, [&](OffloadKind other) { return other == kind; })) {}

void VariableOffload::noticeChange() {
  isStale = true;
  refused.clear(); // The peak may have changed.
}

void VariableOffload::report() const { reportOffloaded(module, count, bytes); }

void mtc::reportOffloaded(ModuleOp module, size_t count, int64_t bytes) {
  if (!count)
    return;
  const MemorySpace space = TargetInfo::of(module).getOffloadSpace();
  remark::passed(module.getLoc(), remark::RemarkOpts::name("offloaded").category("mtc-offload"))
      << remark::add("{0} variables of {1} bytes are in memory space {2}", count, bytes,
                     stringifyEnum(space));
}

/// Returns the groups that can still be moved; another function's instance may have moved some.
SmallVector<VariableGroup *> VariableOffload::findLeft() {
  SmallVector<VariableGroup *> left;
  for (VariableGroup &group : groups)
    if (group.refusal.empty() && !refused.contains(&group) &&
        group.variables.front().getSpace() == MemorySpace::Device)
      left.push_back(&group);
  return left;
}

/// Returns the number of groups with the lowest time per byte, at most as many as free `excess`
/// bytes. Powers of two are compared: the copies of the first groups may overlap with computation
/// while those of further groups do not.
std::optional<VariableOffload::Choice> VariableOffload::choose(int64_t excess) {
  std::optional<Choice> best;
  planned.emplace(*this);
  VariableMover &mover = planned->mover;
  const int64_t slotsBefore = VariableMover::slotCount * mover.getSlotBytes();
  int64_t moved = 0;
  size_t next = 1;
  const SmallVector<VariableGroup *> left = findLeft();
  for (auto [i, group] : llvm::enumerate(left)) {
    group->refusal = mover.plan(*group);
    if (group->refusal.empty()) {
      moved += group->bytes;
      planned->groups.push_back(group);
    }
    const int64_t freed = moved - (VariableMover::slotCount * mover.getSlotBytes() - slotsBefore) -
                          mover.getCopiedBytes(goal.function, goal.function.getPeakTime());
    const bool isLast = freed >= excess || i + 1 == left.size();
    const size_t size = planned->groups.size();
    if (size == 0 || (size < next && !isLast))
      continue;
    next = 2 * size;
    if (goal.isWorthwhile(freed)) {
      const Choice choice{{freed, mover.getAddedSeconds()}, size};
      auto perByte = [&](const Choice &each) {
        return each.time / static_cast<double>(std::min(each.bytes, excess));
      };
      if (!best || perByte(choice) <= perByte(*best))
        best = choice;
    }
    if (freed >= excess)
      break;
  }
  return best;
}

FailureOr<std::optional<PeakReducer::Offer>> VariableOffload::findOffer(int64_t excess) {
  needed = excess;
  // Other changes affect the price only slightly, so it is checked when the offer is taken. An
  // offer that frees more than is needed now may be too large.
  if (!isKnown || (isStale && offered && offered->bytes > excess && offered->count > 1)) {
    offered = choose(excess);
    isKnown = true;
    isStale = false;
  }
  return offered ? std::optional<Offer>(*offered) : std::nullopt;
}

VariableOffload::Planned &VariableOffload::planOffered() {
  if (planned && planned->groups.size() == offered->count &&
      planned->reads == goal.analysis.getReads())
    return *planned;
  planned.emplace(*this);
  for (VariableGroup *group : findLeft()) {
    if (planned->groups.size() == offered->count)
      break;
    group->refusal = planned->mover.plan(*group);
    if (group->refusal.empty())
      planned->groups.push_back(group);
  }
  return *planned;
}

FailureOr<bool> VariableOffload::take() {
  if (isStale) {
    const double before = offered->time / static_cast<double>(offered->bytes);
    offered = choose(needed);
    isStale = false;
    if (!offered || offered->time / static_cast<double>(offered->bytes) > 1.01 * before)
      return false; // The ladder compares the new price.
  }
  const OrderScore score = goal.score();
  const int64_t before = goal.liveBytes();
  planOffered().mover.apply(edits);
  const SmallVector<VariableGroup *> taken = std::move(planned->groups);
  planned.reset();
  isKnown = false;
  if (failed(goal.analysis.update()))
    return failure();
  const int64_t after = goal.liveBytes();
  if (after > before || (after == before && !(goal.score() < score))) {
    edits.undoTo(0);
    refused.insert_range(taken);
    if (failed(goal.analysis.update()))
      return failure();
    return false;
  }
  edits.keep();
  refused.clear();
  for (VariableGroup *group : taken) {
    count += group->variables.size();
    bytes += group->bytes;
  }
  return true;
}

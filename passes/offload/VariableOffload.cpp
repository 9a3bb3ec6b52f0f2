//===- VariableOffload.cpp - Reduction of peak memory by offloading of variables --------------===//

#include "passes/offload/VariableOffload.h"

#include "passes/offload/HostUpdateMover.h"
#include "passes/offload/WindowMover.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

std::unique_ptr<VariableMover> mtc::makeMover(OffloadKind kind, ModuleOp module,
                                              const MemoryAnalysis &analysis, OperationTimes &times,
                                              int64_t window) {
  if (kind == OffloadKind::Update)
    return std::make_unique<HostUpdateMover>(module, analysis, times, window);
  return std::make_unique<WindowMover>(module, analysis, times, window);
}

VariableOffload::VariableOffload(const FunctionBudget &budget, OperationTimes &times,
                                 OffloadKind kind, int64_t window)
    : budget(budget), times(times),
      module(budget.function.getFunction()->getParentOfType<ModuleOp>()), kind(kind),
      window(window), listeners(budget.analysis, times), edits(listeners),
      groups(kind == OffloadKind::Update
                 ? collectUpdateGroups(module)
                 : collectGroups(module, [&](OffloadKind other) { return other == kind; })) {}

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
        llvm::all_of(group.variables, [](VariableOp variable) {
          return variable.getSpace() == MemorySpace::Device;
        }))
      left.push_back(&group);
  return left;
}

/// Returns the number of groups with the lowest time per byte, at most as many as free `excess`
/// bytes. Powers of two are compared: the copies of the first groups may overlap with computation
/// while those of further groups do not.
std::optional<VariableOffload::Choice> VariableOffload::choose(int64_t excess) {
  std::optional<Choice> best;
  planned.emplace(*this);
  VariableMover &mover = *planned->mover;
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
                          mover.getCopiedBytes(budget.function, budget.function.getPeakTime());
    const bool isLast = freed >= excess || i + 1 == left.size();
    const size_t size = planned->groups.size();
    if (size == 0 || (size < next && !isLast))
      continue;
    next = 2 * size;
    if (budget.isWorthwhile(freed)) {
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

FailureOr<std::optional<PeakReducer::Candidate>> VariableOffload::findCandidate(int64_t excess) {
  needed = excess;
  // Other changes affect the price only slightly, so it is checked when the candidate is applied. A
  // candidate that frees more than is needed now may be too large.
  if (!isKnown || (isStale && candidate && candidate->bytes > excess && candidate->count > 1)) {
    candidate = choose(excess);
    isKnown = true;
    isStale = false;
  }
  return candidate ? std::optional<Candidate>(*candidate) : std::nullopt;
}

VariableOffload::Planned &VariableOffload::planCandidate() {
  if (planned && planned->groups.size() == candidate->count &&
      planned->reads == budget.analysis.getReads())
    return *planned;
  planned.emplace(*this);
  for (VariableGroup *group : findLeft()) {
    if (planned->groups.size() == candidate->count)
      break;
    group->refusal = planned->mover->plan(*group);
    if (group->refusal.empty())
      planned->groups.push_back(group);
  }
  return *planned;
}

FailureOr<bool> VariableOffload::applyCandidate() {
  if (isStale) {
    const double before = candidate->time / static_cast<double>(candidate->bytes);
    candidate = choose(needed);
    isStale = false;
    if (!candidate || candidate->time / static_cast<double>(candidate->bytes) > 1.01 * before)
      return false; // The ladder compares the new price.
  }
  const OrderScore score = budget.score();
  const int64_t before = budget.liveBytes();
  planCandidate().mover->apply(edits);
  const SmallVector<VariableGroup *> taken = std::move(planned->groups);
  planned.reset();
  isKnown = false;
  if (failed(budget.analysis.update()))
    return failure();
  const int64_t after = budget.liveBytes();
  if (after > before || (after == before && !(budget.score() < score))) {
    edits.undoTo(0);
    refused.insert_range(taken);
    if (failed(budget.analysis.update()))
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

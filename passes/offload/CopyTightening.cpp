//===- CopyTightening.cpp - Reduction of peak memory by shorter reservations for copies -------===//

#include "passes/offload/CopyTightening.h"

#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

/// Returns the change that frees a value's memory at the peak. The memory must be needed there only
/// by the copy `op`, or, if `op` is a hold, by the copy for which it waits. Its time is the lost
/// overlap.
std::optional<CopyTightening::Choice>
CopyTightening::shorten(const PlannedOperation &op, int64_t excess,
                        const CopyPlacement &placement) const {
  const FunctionMemory &function = budget.function;
  const int64_t peak = function.getPeakTime();
  auto secondsOf = [&](int64_t begin, int64_t end) {
    double seconds = 0;
    for (const PlannedOperation *each :
         function.getOrder().slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin)))
      seconds += times.of(each->op);
    return seconds;
  };
  auto timesOfUsers = [&](Value value) {
    return llvm::map_to_vector(findUses(value), [&](OpOperand *use) {
      return std::pair(function[use->getOwner()].time, use->getOwner());
    });
  };
  auto limitFor = [&](int64_t bytes) { return function.getLive()[peak] - std::min(excess, bytes); };
  if (auto move = dyn_cast<MoveOp>(op.op); move && move.getSpace() == MemorySpace::Device) {
    const int64_t bytes = op.results.front().bytes;
    auto users = timesOfUsers(move.getResult());
    const auto first = llvm::min_element(users);
    if (op.time >= peak || first == users.end() || first->first <= peak ||
        op.results.front().buffer->fixedOffset)
      return std::nullopt;
    const int64_t begin = placement.findStart(first->first, bytes, peak, limitFor(bytes));
    Operation *place = begin < first->first ? placement.getOperation(begin) : first->second;
    if (begin == first->first) // Before the views of the value, which precede their users.
      for (Operation *user : move->getUsers())
        if (user->isBeforeInBlock(place))
          place = user;
    return Choice{{bytes, secondsOf(op.time, begin)}, move, place};
  }
  if (isa<HoldOp>(op.op) && op.time >= peak) {
    const PlannedValue &value = *op.operands.front();
    int64_t lastUse = -1;
    for (auto [time, user] : timesOfUsers(value.value))
      if (user != op.op)
        lastUse = std::max(lastUse, time);
    if (lastUse < 0 || lastUse >= peak || value.buffer->fixedOffset)
      return std::nullopt;
    const int64_t release =
        placement.findRelease(lastUse, value.bytes, peak, limitFor(value.bytes));
    Operation *place = function.getOrder()[lastUse]->op;
    if (release > lastUse)
      place = placement.getOperation(release);
    return Choice{{value.bytes, secondsOf(release, op.time)}, op.op, place->getNextNode()};
  }
  return std::nullopt;
}

FailureOr<std::optional<PeakReducer::Candidate>> CopyTightening::findCandidate(int64_t excess) {
  candidate.reset();
  double lowest = 0;
  const CopyPlacement placement(budget.function, times, target);
  for (const PlannedOperation *op : budget.function.getOrder()) {
    if (!isa<MoveOp, HoldOp>(op->op) || refused.contains(op->op))
      continue;
    std::optional<Choice> choice = shorten(*op, excess, placement);
    if (!choice || !budget.isWorthwhile(choice->bytes))
      continue;
    const double price = choice->time / static_cast<double>(choice->bytes);
    if (!candidate || price < lowest) {
      candidate = choice;
      lowest = price;
    }
  }
  return candidate ? std::optional<Candidate>(*candidate) : std::nullopt;
}

/// Applies the candidate. As long as just as many bytes are live at another operation, also applies
/// changes there that take no more time.
FailureOr<bool> CopyTightening::applyCandidate() {
  const int64_t before = budget.liveBytes();
  const double limit = candidate->time * 1.01;
  bool isTaken = false;
  while (candidate && candidate->time <= limit && budget.liveBytes() == before) {
    const OrderScore score = budget.score();
    edits.moveBefore(candidate->op, candidate->place);
    FailureOr<int64_t> excess = budget.findExcess();
    if (failed(excess))
      return failure();
    if (!(budget.score() < score)) {
      edits.undoTo(0);
      refused.insert(candidate->op);
      if (failed(budget.analysis.update()))
        return failure();
      return isTaken;
    }
    edits.keep();
    refused.clear();
    isTaken = true;
    if (*excess > 0)
      if (auto next = findCandidate(*excess); failed(next))
        return failure();
  }
  return isTaken;
}

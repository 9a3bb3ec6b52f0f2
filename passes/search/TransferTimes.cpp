//===- TransferTimes.cpp - Time that a function waits for copies ------------------------------===//

#include "passes/search/TransferTimes.h"

#include <array>
#include <queue>

using namespace mlir;
using namespace mtc;

namespace {

constexpr size_t slotCount = 4;

/// Bytes of a kernel's operands and results in another memory space than its own.
struct WindowBytes {
  int64_t read = 0, written = 0, total = 0;
};

class Simulation {
public:
  Simulation(const FunctionMemory &function, OperationTimes &times, const TargetInfo &target,
             int64_t slotBytes)
      : function(function), times(times), target(target), slotBytes(slotBytes),
        ended(function.getOrder().size()) {}

  TransferTimes run(ArrayRef<PlannedCopy> added) {
    SmallVector<PlannedCopy> starts, uses; // Fetches by start; all copies by position of use.
    for (const PlannedCopy &copy : added) {
      uses.push_back(copy);
      if (copy.kind == PlannedCopy::Kind::Fetch)
        starts.push_back(copy);
    }
    // Copies at one position differ only in their bytes.
    llvm::sort(starts, [](const auto &a, const auto &b) {
      return std::tuple(a.other, a.time, a.bytes) < std::tuple(b.other, b.time, b.bytes);
    });
    llvm::sort(uses, [](const auto &a, const auto &b) {
      return std::tuple(a.time, a.kind, a.bytes, a.other) <
             std::tuple(b.time, b.kind, b.bytes, b.other);
    });
    ArrayRef<PlannedCopy> nextStart = starts, nextUse = uses;
    for (const PlannedOperation *op : function.getOrder()) {
      for (; !releases.empty() && releases.top().first < op->time; releases.pop())
        now = std::max(now, releases.top().second);
      for (; !nextStart.empty() && nextStart.front().other <= op->time;
           nextStart = nextStart.drop_front())
        fetched[{nextStart.front().time, nextStart.front().bytes}] =
            bring(timeOfBringing(nextStart.front().bytes), now);
      for (const PlannedValue *operand : op->operands)
        if (operand->definition && operand->definition->isMove)
          wait(op, *operand->definition);
      WindowBytes windows = findWindows(*op);
      ArrayRef<PlannedCopy> here =
          nextUse.take_while([&](const PlannedCopy &copy) { return copy.time <= op->time; });
      nextUse = nextUse.drop_front(here.size());
      const PlannedCopy *hostUpdate = nullptr;
      for (const PlannedCopy &copy : here) {
        if (copy.kind == PlannedCopy::Kind::HostUpdate)
          hostUpdate = &copy;
        if (copy.kind == PlannedCopy::Kind::Fetch)
          now = std::max(now, fetched.lookup({copy.time, copy.bytes}));
        if (copy.kind == PlannedCopy::Kind::Window) {
          windows.read += copy.isRead ? copy.bytes : 0;
          windows.written += copy.isWritten ? copy.bytes : 0;
          windows.total += copy.bytes;
        }
      }
      if (op->isMove)
        ended[op->time] = visit(cast<MoveOp>(op->op), *op);
      else if (hostUpdate)
        releases.push(
            {hostUpdate->other, runOnHost(*op, hostUpdate->bytes, hostUpdate->bytesBack)});
      else if (op->isOnHost())
        visitOnHost(*op, windows);
      else if (windows.total && slotBytes)
        runInWindows(times.of(op->op), windows);
      else if (op->isCompute) // Other operations take no time.
        compute(times.of(op->op));
      for (const PlannedCopy &copy : here)
        if (copy.kind == PlannedCopy::Kind::Away)
          releases.push({copy.other, takeAway(timeOfTakingAway(copy.bytes))});
    }
    return {seconds, std::max({now, toDevice, fromDevice, onHost, delivered}) - computing};
  }

private:
  void compute(double time) {
    now += time;
    computing += time;
  }

  /// Starts a copy to the device at `begin` or after the previous one; returns when it has ended.
  double bring(double time, double begin) {
    seconds += time;
    return toDevice = std::max(toDevice, begin) + time;
  }

  /// Starts a copy from the device after the previous one; returns when it has ended.
  double takeAway(double time) {
    seconds += time;
    return fromDevice = std::max(fromDevice, now) + time;
  }

  double timeOfBringing(int64_t bytes) const {
    return target.getTransferSeconds(target.getOffloadSpace(), MemorySpace::Device, bytes);
  }

  double timeOfTakingAway(int64_t bytes) const {
    return target.getTransferSeconds(MemorySpace::Device, target.getOffloadSpace(), bytes);
  }

  double visit(MoveOp move, const PlannedOperation &op) {
    const int64_t bytes = op.results.front().bytes;
    const PlannedValue &source = *op.operands.front();
    if (move.getSpace() != MemorySpace::Device) {
      const double end = takeAway(timeOfTakingAway(bytes));
      releases.push({source.lastUse, end});
      return end;
    }
    const bool isMoved = source.definition && source.definition->isMove;
    return bring(timeOfBringing(bytes),
                 std::max(now, isMoved ? ended[source.definition->time] : 0));
  }

  /// Delays an operation until a copied value that it uses is on the device.
  void wait(const PlannedOperation *op, const PlannedOperation &move) {
    if (!isa<MoveOp, HoldOp>(op->op) && cast<MoveOp>(move.op).getSpace() == MemorySpace::Device)
      now = std::max(now, ended[move.time]);
  }

  /// Runs a kernel on the host, whose windows are copied, computed and copied back at the same
  /// time. Returns when the last one has been copied to the host. The caller adds the times of all
  /// kernels to obtain that of the function, so that `computing` includes this one.
  double runOnHost(const PlannedOperation &op, int64_t bytes, int64_t bytesBack) {
    const double begin = now, arrived = bytes ? takeAway(timeOfTakingAway(bytes)) : now;
    computing += times.of(op.op);
    onHost = std::max(std::max(onHost, begin) + times.onHost(op.op), arrived);
    if (bytesBack) {
      // Other copies to the device do not wait for this one, but share the bus with it.
      const double time = timeOfBringing(bytesBack);
      bring(time, begin);
      delivered = std::max(std::max(delivered, begin) + time, onHost);
    }
    return arrived;
  }

  void visitOnHost(const PlannedOperation &op, const WindowBytes &windows) {
    const double arrived = runOnHost(op, windows.read, windows.written);
    for (const PlannedValue *operand : op.operands)
      if (operand->buffer && operand->buffer->space == MemorySpace::Device &&
          !operand->buffer->fixedOffset)
        releases.push({operand->lastUse, arrived});
  }

  static WindowBytes findWindows(const PlannedOperation &op) {
    WindowBytes bytes;
    if (!op.runsInWindows())
      return bytes;
    const MemorySpace own = cast<KernelOp>(op.op).getSpaceOfOperands();
    llvm::SmallDenseSet<int64_t, 4> seen; // Reading and writing in place uses one part of a slot.
    auto add = [&](const PlannedValue &value, int64_t &direction) {
      if (!value.buffer || value.buffer->space == own)
        return;
      direction += value.bytes;
      if (!value.buffer->fixedOffset || seen.insert(*value.buffer->fixedOffset).second)
        bytes.total += value.bytes;
    };
    for (const PlannedValue *operand : op.operands)
      add(*operand, bytes.read);
    for (const PlannedValue &result : op.results)
      add(result, bytes.written);
    return bytes;
  }

  void runInWindows(double time, const WindowBytes &bytes) {
    const int64_t count = llvm::divideCeil(bytes.total, slotBytes);
    const double reading = timeOfBringing(bytes.read / count),
                 writing = timeOfTakingAway(bytes.written / count),
                 computingOne = time / static_cast<double>(count);
    for (int64_t window = 0; window < count; ++window) {
      double &free = slots[next++ % slotCount];
      if (bytes.read)
        now = std::max(now, bring(reading, free));
      else
        now = std::max(now, free);
      compute(computingOne);
      free = bytes.written ? takeAway(writing) : now;
    }
  }

  const FunctionMemory &function;
  OperationTimes &times;
  const TargetInfo &target;
  const int64_t slotBytes;
  double now = 0, computing = 0, seconds = 0;
  double toDevice = 0, fromDevice = 0; ///< When the last copy of each stream has ended.
  double onHost = 0, delivered = 0;    ///< The last kernel on the host, and copy of its results.
  SmallVector<double, 0> ended;        ///< When the copies of moves have ended, by position.
  /// Last position that holds the memory of a value that is copied away, and the end of the copy.
  std::priority_queue<std::pair<int64_t, double>, std::vector<std::pair<int64_t, double>>,
                      std::greater<>>
      releases;
  llvm::DenseMap<std::pair<int64_t, int64_t>, double> fetched; ///< By position of use and bytes.
  std::array<double, slotCount> slots = {};                    ///< When each slot is free.
  size_t next = 0;
};

} // namespace

TransferTimes mtc::estimateTransfers(const FunctionMemory &function, OperationTimes &times,
                                     const TargetInfo &target, int64_t slotBytes,
                                     ArrayRef<PlannedCopy> added) {
  return Simulation(function, times, target, slotBytes).run(added);
}

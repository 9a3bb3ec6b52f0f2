//===- OverlapCopies.cpp - Overlaps copies with computation -----------------------------------===//

#include "ir/interfaces/TargetInfo.h"
#include "ir/steps/StepAccess.h"
#include "passes/Passes.h"
#include "passes/cost/StepCost.h"
#include "passes/overlap/CopyOrder.h"

#include "llvm/ADT/SetVector.h"

#include <map>

namespace mtc {
#define GEN_PASS_DEF_OVERLAPCOPIES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Stream numbers. Copies that wait for kernels on the host have a stream of their own, so that
/// copies to the device that are needed earlier do not wait, too.
constexpr int64_t bringing = 1, takingAway = 2, exchanging = 3, onHost = 4, bringingResults = 5;

/// The operations of a step by number. Numbers stay as they are when operations move. A step with
/// windows has many operations, so that all properties are stored in arrays.
class NumberedStep {
public:
  explicit NumberedStep(Block &block) : block(block) {
    for (Operation &op : block) {
      const StepAccess access(&op);
      const std::optional<AsyncWork> work = AsyncWork::of(&op);
      operations.push_back({&op, work ? work->stream : 0, access.lastUses, AccessedRanges(access)});
    }
    // The number after the last one is the head of the list.
    const int64_t count = size();
    for (int64_t number = 0; number <= count; ++number) {
      previous.push_back(number == 0 ? count : number - 1);
      next.push_back(number == count ? 0 : number + 1);
    }
  }

  struct Numbered {
    Operation *op;
    int64_t stream; ///< 0 without asynchronous work
    ArrayRef<int64_t> lastUses;
    AccessedRanges ranges;
  };

  const Numbered &operator[](int64_t number) const { return operations[number]; }
  int64_t size() const { return static_cast<int64_t>(operations.size()); }
  /// Returns whether an operation is a copy to the device.
  bool brings(int64_t number) const { return operations[number].stream == bringing; }

  /// The head of the list precedes the first operation and follows the last one.
  int64_t getHead() const { return size(); }
  int64_t getPrevious(int64_t number) const { return previous[number]; }
  int64_t getNext(int64_t number) const { return next[number]; }

  void moveAfter(int64_t number, int64_t before) {
    if (previous[number] == before)
      return;
    next[previous[number]] = next[number];
    previous[next[number]] = previous[number];
    const int64_t after = next[before];
    next[before] = previous[after] = number;
    previous[number] = before;
    next[number] = after;
    if (before == getHead())
      operations[number].op->moveBefore(&block, block.begin());
    else
      operations[number].op->moveAfter(operations[before].op);
  }

private:
  Block &block;
  SmallVector<Numbered, 0> operations;
  SmallVector<int64_t, 0> previous, next;
};

/// Tracks the last uses of a step's results while operations are moved.
class LastUses {
public:
  explicit LastUses(const NumberedStep &step) : step(step), dying(step.size()) {
    for (int64_t number = 0; number < step.size(); ++number) {
      firstUser.push_back(lastUsers.size());
      const StepAccess access(step[number].op);
      for (auto [result, lastUse] : llvm::zip(access.results, access.lastUses)) {
        const bool isEnd = lastUse < 0 || lastUse >= step.size();
        int64_t &last = lastUsers.emplace_back(isEnd ? end : lastUse);
        if (isEnd || result.getSpace() != MemorySpace::Device)
          continue;
        // An operation that does not read the value may be the last one to hold its memory. Copies
        // that move are skipped, so that the last use is an operation that stays in place.
        while (last != number && step.brings(last))
          --last;
        dying[last].push_back(ByteRange(result));
      }
    }
    firstUser.push_back(lastUsers.size());
  }

  /// Returns whether the live range of an overlapping value ends at an operation.
  bool endAt(int64_t number, const ByteRange &range) const {
    return llvm::any_of(dying[number],
                        [&](const ByteRange &other) { return other.overlaps(range); });
  }

  void write() const {
    SmallVector<int64_t, 0> positions(step.size());
    int64_t count = 0;
    for (int64_t at = step.getNext(step.getHead()); at != step.getHead(); at = step.getNext(at))
      positions[at] = count++;
    for (int64_t number = 0; number < step.size(); ++number) {
      SmallVector<int64_t> lastUses(step[number].lastUses);
      for (auto [lastUse, user] :
           llvm::zip(lastUses, ArrayRef(lastUsers).drop_front(firstUser[number])))
        if (user != end)
          lastUse = positions[user];
      if (ArrayRef(lastUses) != step[number].lastUses)
        setLastUses(step[number].op, lastUses);
    }
  }

private:
  static constexpr int64_t end = -1; ///< the end of the step, or a result without a live range

  const NumberedStep &step;
  SmallVector<size_t, 0> firstUser;  ///< of an operation's results, in `lastUsers`
  SmallVector<int64_t, 0> lastUsers; ///< for each result
  SmallVector<SmallVector<ByteRange, 1>, 0> dying;
};

/// Ranges of bytes in pinned host memory, none of which overlap.
class HostRanges {
public:
  void add(AtAttr slice) {
    int64_t begin = slice.getOffset(), end = slice.getEnd();
    auto next = ends.upper_bound(begin); // The first range that ends after `begin`.
    while (next != ends.end() && next->second < end) {
      begin = std::min(begin, next->second);
      end = std::max(end, next->first);
      next = ends.erase(next);
    }
    ends[end] = begin;
  }

  bool overlap(AtAttr slice) const {
    auto next = ends.upper_bound(slice.getOffset());
    return next != ends.end() && next->second < slice.getEnd();
  }

private:
  std::map<int64_t, int64_t> ends; ///< begin of each range by its end
};

/// Turns the copies of a step between two memory spaces, and its launches of kernels on the host,
/// into asynchronous ones.
void putOnStreams(Block &step, const llvm::DenseSet<Attribute> &hostKernels) {
  HostRanges results; // Of kernels on the host so far.
  for (Operation &op : llvm::make_early_inc_range(step)) {
    OpBuilder builder(&op);
    if (auto launch = dyn_cast<LaunchOp>(op);
        launch && launch.getDependencies().empty() &&
        hostKernels.contains(launch.getKernelAttr().getAttr())) {
      for (auto slice : launch.getOutputs().getAsRange<AtAttr>())
        results.add(slice);
      AsyncLaunchOp::create(builder, op.getLoc(), launch.getKernel(), launch.getInputs(),
                            launch.getOutputs(), onHost, ValueRange(), launch.getLastUsesAttr());
      launch.erase();
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || copy.getSource().getSpace() == copy.getDestination().getSpace() ||
        !copy.getDependencies().empty())
      continue;
    AtAttr source = copy.getSource(), destination = copy.getDestination();
    const int64_t stream = destination.getSpace() != MemorySpace::Device ? takingAway
                           : source.getSpace() == MemorySpace::PinnedHost && results.overlap(source)
                               ? bringingResults
                               : bringing;
    AsyncCopyOp::create(builder, op.getLoc(), source, destination, stream, ValueRange(),
                        copy.getLastUsesAttr());
    copy.erase();
  }
}

/// Turns the transfers between ranks into asynchronous transfers, in their order.
void putTransfersOnStream(Block &step) {
  for (TransferOp transfer : llvm::to_vector(step.getOps<TransferOp>())) {
    // Copies within a rank need no other rank, but would wait for transfers that do.
    if (!transfer.getDependencies().empty() ||
        transfer.getCollective().getKind() == CollectiveKind::OwnPiece)
      continue;
    OpBuilder builder(transfer);
    AsyncTransferOp::create(builder, transfer.getLoc(), transfer.getCollective(),
                            transfer.getInputs(), transfer.getOutputs(), exchanging, ValueRange(),
                            transfer.getLastUsesAttr());
    transfer.erase();
  }
}

/// Starts each copy to the device as early as possible, in the order of `CopyOrder`.
class EarlyStart {
public:
  EarlyStart(NumberedStep &step, StepCost &cost)
      : step(step), lastUses(step), after(step.size(), step.getHead()) {
    const TargetInfo target = TargetInfo::of(step[0].op);
    CopyOrder order(step.size());
    for (int64_t number = 0; number < step.size(); ++number) {
      Operation *op = step[number].op;
      const int64_t stream = step[number].stream;
      if (auto copy = dyn_cast<AsyncCopyOp>(op))
        order.setWork(number, stream,
                      target.getTransferSeconds(copy.getSource().getSpace(),
                                                copy.getDestination().getSpace(),
                                                byteSize(copy.getSource().getType())));
      else
        order.setWork(number, stream, stream ? 0 : cost.of(op).seconds());
    }
    for (int64_t copy = 0; copy < step.size(); ++copy)
      if (step.brings(copy)) {
        after[copy] = findBlocker(copy);
        order.add(copy, after[copy], findUser(copy));
      }
    copies = order.find();
  }

  void run() {
    int64_t blocker = step.getHead(), last = step.getHead();
    for (int64_t copy : copies) {
      // The head has the largest number, but precedes all operations.
      if (after[copy] != step.getHead() && (blocker == step.getHead() || after[copy] > blocker))
        last = blocker = after[copy];
      step.moveAfter(copy, last);
      last = copy;
    }
    lastUses.write();
  }

private:
  /// Copies do not move across more operations than these: the time to plan is limited.
  static constexpr int64_t maxDistance = 1 << 12;

  /// Returns the last operation, other than a copy to the device, that must precede a copy.
  int64_t findBlocker(int64_t copy) const {
    const AccessedRanges &ranges = step[copy].ranges;
    const ByteRange destination(cast<AsyncCopyOp>(step[copy].op).getDestination());
    int64_t blocker = copy - 1;
    while (blocker >= 0 && copy - blocker < maxDistance &&
           !ranges.conflictsWith(step[blocker].ranges) && !lastUses.endAt(blocker, destination))
      --blocker;
    // Copies to the device do not conflict: a user of the first one precedes the second one.
    while (blocker >= 0 && step.brings(blocker))
      --blocker;
    return blocker >= 0 ? blocker : step.getHead();
  }

  /// Returns the first operation after a copy that waits for it.
  int64_t findUser(int64_t copy) const {
    int64_t user = copy + 1;
    while (user < step.size() &&
           (step.brings(user) || !step[copy].ranges.conflictsWith(step[user].ranges)))
      ++user;
    return user;
  }

  NumberedStep &step;
  LastUses lastUses;
  SmallVector<int64_t, 0> after;  ///< the operation that must precede each copy, or the head
  SmallVector<int64_t, 0> copies; ///< in the order in which they start
};

/// Adds the tokens of conflicting asynchronous work as dependences of operations.
class Waiter {
public:
  explicit Waiter(const NumberedStep &step) : step(step), endedBefore(step.size()) {}

  void visit(int64_t number) {
    const auto &[op, stream, lastUses, ranges] = step[number];
    SmallVector<Value> tokens;
    SmallVector<int64_t> awaited;
    for (int64_t other : running) {
      // Copies of the same stream run one after the other.
      if (stream && stream == step[other].stream && stream != exchanging)
        continue;
      if (ranges.conflictsWith(step[other].ranges)) {
        tokens.push_back(AsyncWork::of(step[other].op)->token);
        awaited.push_back(other);
      }
    }
    if (!tokens.empty())
      op->insertOperands(op->getNumOperands(), tokens);
    if (!stream) {
      end(awaited);
      return;
    }
    if (auto [last, isFirst] = lastOfStream.try_emplace(stream, number); !isFirst)
      awaited.push_back(std::exchange(last->second, number));
    endedBefore[number].assign(awaited.begin(), awaited.end());
    running.insert(number);
  }

private:
  /// Marks work as completed, including all work that completed before it.
  void end(SmallVector<int64_t> ended) {
    while (!ended.empty()) {
      const int64_t work = ended.pop_back_val();
      if (running.remove(work))
        llvm::append_range(ended, endedBefore[work]);
    }
  }

  const NumberedStep &step;
  llvm::SetVector<int64_t> running; ///< work that may still be in flight
  llvm::DenseMap<int64_t, int64_t> lastOfStream;
  SmallVector<SmallVector<int64_t, 2>, 0> endedBefore;
};

class OverlapCopiesPass : public mtc::impl::OverlapCopiesBase<OverlapCopiesPass> {
  static bool bringsAny(const NumberedStep &step) {
    for (int64_t number = 0; number < step.size(); ++number)
      if (step.brings(number))
        return true;
    return false;
  }

  void runOnOperation() override {
    llvm::DenseSet<Attribute> hostKernels;
    for (auto kernel : getOperation().getOps<KernelFunctionOp>())
      if (kernel.getOnHost())
        hostKernels.insert(kernel.getSymNameAttr());
    for (StepOp step : getOperation().getOps<StepOp>()) {
      Block &block = step.getBody().front();
      if (llvm::any_of(block, [](Operation &op) { return AsyncWork::of(&op).has_value(); }))
        continue; // The step already has asynchronous work.
      putTransfersOnStream(block);
      putOnStreams(block, hostKernels);
      NumberedStep numbered(block);
      // Only copies to the device move, and only then are times needed, which may be measured.
      if (bringsAny(numbered)) {
        StepCost cost(getOperation());
        EarlyStart(numbered, cost).run();
      }
      Waiter waiter(numbered);
      const int64_t head = numbered.getHead();
      for (int64_t at = numbered.getNext(head); at != head; at = numbered.getNext(at))
        waiter.visit(at);
    }
  }
};

} // namespace

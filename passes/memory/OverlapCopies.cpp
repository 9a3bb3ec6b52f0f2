//===- OverlapCopies.cpp - Overlaps copies with computation -----------------------------------===//

#include "ir/steps/StepAccess.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace mtc {
#define GEN_PASS_DEF_OVERLAPCOPIES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

constexpr int64_t bringing = 1, takingAway = 2, exchanging = 3; // Stream numbers.

/// Caches the memory accesses of a step's operations.
class Accesses {
public:
  const AccessedRanges &operator[](Operation *op) {
    std::unique_ptr<AccessedRanges> &known = accesses[op];
    if (!known)
      known = std::make_unique<AccessedRanges>(StepAccess(op));
    return *known;
  }

private:
  llvm::DenseMap<Operation *, std::unique_ptr<AccessedRanges>> accesses;
};

bool brings(Operation *op) {
  auto copy = dyn_cast<AsyncCopyOp>(op);
  return copy && copy.getStream() == bringing;
}

/// Tracks the last uses of a step's results while operations are moved.
class LastUses {
public:
  explicit LastUses(Block &step) : step(step) {
    SmallVector<Operation *> operations;
    for (Operation &op : step)
      operations.push_back(&op);
    for (Operation *op : operations) {
      StepAccess access(op);
      SmallVector<Operation *, 1> last;
      for (auto [result, number] : llvm::zip(access.results, access.lastUses)) {
        const bool isEnd = number < 0 || number >= static_cast<int64_t>(operations.size());
        last.push_back(isEnd ? nullptr : operations[number]);
        if (isEnd || result.getSpace() != MemorySpace::Device)
          continue;
        // An operation that does not read the value may be the last one to hold its memory. Copies
        // that move are skipped, so that the last use is an operation that stays in place.
        while (last.back() != op && brings(last.back()))
          last.back() = last.back()->getPrevNode();
        dying[last.back()].push_back(ByteRange(result));
      }
      lastUsers.insert({op, std::move(last)});
    }
  }

  /// Returns whether the live range of an overlapping value ends at `op`.
  bool endAt(Operation *op, const ByteRange &range) const {
    auto known = dying.find(op);
    return known != dying.end() && llvm::any_of(known->second, [&](const ByteRange &other) {
             return other.overlaps(range);
           });
  }

  void write() const {
    llvm::DenseMap<Operation *, int64_t> numbers;
    for (Operation &op : step)
      numbers.insert({&op, static_cast<int64_t>(numbers.size())});
    for (const auto &[op, users] : lastUsers) {
      SmallVector<int64_t> lastUses(StepAccess(op).lastUses);
      for (auto [lastUse, user] : llvm::zip(lastUses, users))
        if (user)
          lastUse = numbers.at(user);
      if (!lastUses.empty())
        setLastUses(op, lastUses);
    }
  }

private:
  Block &step;
  llvm::DenseMap<Operation *, SmallVector<Operation *, 1>> lastUsers; ///< for each result
  llvm::DenseMap<Operation *, SmallVector<ByteRange, 1>> dying;
};

/// Turns the copies of a step between two memory spaces into asynchronous copies.
SmallVector<AsyncCopyOp> putOnStreams(Block &step) {
  SmallVector<AsyncCopyOp> copies;
  for (CopyOp copy : llvm::to_vector(step.getOps<CopyOp>())) {
    AtAttr source = copy.getSource(), destination = copy.getDestination();
    if (source.getSpace() == destination.getSpace() || !copy.getDependencies().empty())
      continue;
    const int64_t stream = destination.getSpace() == MemorySpace::Device ? bringing : takingAway;
    OpBuilder builder(copy);
    copies.push_back(AsyncCopyOp::create(builder, copy.getLoc(), source, destination, stream,
                                         ValueRange(), copy.getLastUsesAttr()));
    copy.erase();
  }
  return copies;
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

/// Moves each copy to the device as early as possible, without reordering these copies.
void startEarly(Block &step, ArrayRef<AsyncCopyOp> copies, Accesses &accesses) {
  LastUses lastUses(step);
  Operation *last = nullptr;
  for (AsyncCopyOp copy : copies) {
    if (!brings(copy))
      continue;
    const AccessedRanges &access = accesses[copy];
    const ByteRange destination(copy.getDestination());
    Operation *before = copy->getPrevNode();
    while (before && before != last && !access.conflictsWith(accesses[before]) &&
           !lastUses.endAt(before, destination))
      before = before->getPrevNode();
    if (before)
      copy->moveAfter(before);
    else
      copy->moveBefore(&step, step.begin());
    last = copy;
  }
  lastUses.write();
}

/// Adds the tokens of conflicting copies and transfers as dependences of operations.
class Waiter {
public:
  explicit Waiter(Accesses &accesses) : accesses(accesses) {}

  void visit(Operation *op) {
    const std::optional<AsyncWork> work = AsyncWork::of(op);
    const AccessedRanges &access = accesses[op];
    SmallVector<Value> tokens;
    SmallVector<Operation *> awaited;
    for (Operation *other : running) {
      const AsyncWork ofOther = *AsyncWork::of(other);
      // Copies of the same stream run one after the other.
      if (work && work->stream == ofOther.stream && isa<AsyncCopyOp>(op))
        continue;
      if (access.conflictsWith(accesses[other])) {
        tokens.push_back(ofOther.token);
        awaited.push_back(other);
      }
    }
    op->insertOperands(op->getNumOperands(), tokens);
    if (!work) {
      end(awaited);
      return;
    }
    if (Operation *previous = std::exchange(lastOfStream[work->stream], op))
      awaited.push_back(previous);
    endedBefore[op] = std::move(awaited);
    running.insert(op);
  }

private:
  /// Marks work as completed, including all work that completed before it.
  void end(SmallVector<Operation *> ended) {
    while (!ended.empty()) {
      Operation *work = ended.pop_back_val();
      if (running.remove(work))
        llvm::append_range(ended, endedBefore[work]);
    }
  }

  Accesses &accesses;
  llvm::SetVector<Operation *> running; ///< copies and transfers that may still be in flight
  llvm::DenseMap<int64_t, Operation *> lastOfStream;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> endedBefore;
};

class OverlapCopiesPass : public mtc::impl::OverlapCopiesBase<OverlapCopiesPass> {
  void runOnOperation() override {
    for (StepOp step : getOperation().getOps<StepOp>()) {
      Block &block = step.getBody().front();
      if (llvm::any_of(block, [](Operation &op) { return AsyncWork::of(&op).has_value(); }))
        continue; // The step already has asynchronous copies or transfers.
      putTransfersOnStream(block);
      Accesses accesses;
      startEarly(block, putOnStreams(block), accesses);
      Waiter waiter(accesses);
      for (Operation &op : block)
        waiter.visit(&op);
    }
  }
};

} // namespace

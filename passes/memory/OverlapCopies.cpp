//===- OverlapCopies.cpp - Copies between spaces run while steps go on ------------------------===//

#include "ir/StepOrder.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace mtc {
#define GEN_PASS_DEF_OVERLAPCOPIES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

constexpr int64_t bringing = 1, takingAway = 2; // Streams.

/// What the operations of a step touch, read once.
class Accesses {
public:
  const StepAccess &operator[](Operation *op) {
    std::unique_ptr<StepAccess> &known = accesses[op];
    if (!known)
      known = std::make_unique<StepAccess>(op);
    return *known;
  }

private:
  llvm::DenseMap<Operation *, std::unique_ptr<StepAccess>> accesses;
};

/// Puts the copies of a step between two spaces on streams, each as early as it may start.
void startCopies(Block &step, Accesses &accesses) {
  Operation *lastBringing = nullptr;
  for (CopyOp copy : llvm::to_vector(step.getOps<CopyOp>())) {
    AtAttr source = copy.getSource(), destination = copy.getDestination();
    if (source.getSpace() == destination.getSpace() || !copy.getDependencies().empty())
      continue;
    const bool brings = destination.getSpace() == MemorySpace::Device;
    OpBuilder builder(copy);
    auto async = AsyncCopyOp::create(builder, copy.getLoc(), source, destination,
                                     brings ? bringing : takingAway, ValueRange());
    copy.erase();
    if (!brings)
      continue;
    const StepAccess &access = accesses[async];
    Operation *before = async->getPrevNode();
    while (before && before != lastBringing && !access.conflictsWith(accesses[before]))
      before = before->getPrevNode();
    if (before)
      async->moveAfter(before);
    else
      async->moveBefore(&step, step.begin());
    lastBringing = async;
  }
}

/// Lets operations wait for the copies whose slices they touch.
class Waiter {
public:
  explicit Waiter(Accesses &accesses) : accesses(accesses) {}

  void visit(Operation *op) {
    auto copy = dyn_cast<AsyncCopyOp>(op);
    const StepAccess &access = accesses[op];
    SmallVector<Value> tokens;
    SmallVector<AsyncCopyOp> awaited;
    for (AsyncCopyOp other : running) {
      // Copies of one stream run in their order.
      if (copy && copy.getStream() == other.getStream())
        continue;
      if (access.conflictsWith(accesses[other])) {
        tokens.push_back(other.getToken());
        awaited.push_back(other);
      }
    }
    op->insertOperands(op->getNumOperands(), tokens);
    if (!copy) {
      end(awaited);
      return;
    }
    if (AsyncCopyOp previous = std::exchange(lastOfStream[copy.getStream()], copy))
      awaited.push_back(previous);
    endedBefore[op] = std::move(awaited);
    running.insert(copy);
  }

private:
  /// The step has waited for copies, and so for all that these waited for.
  void end(SmallVector<AsyncCopyOp> ended) {
    while (!ended.empty()) {
      AsyncCopyOp copy = ended.pop_back_val();
      if (running.remove(copy))
        llvm::append_range(ended, endedBefore[copy]);
    }
  }

  Accesses &accesses;
  llvm::SetVector<AsyncCopyOp> running; ///< for all that the step knows
  llvm::DenseMap<int64_t, AsyncCopyOp> lastOfStream;
  llvm::DenseMap<Operation *, SmallVector<AsyncCopyOp>> endedBefore;
};

class OverlapCopiesPass : public mtc::impl::OverlapCopiesBase<OverlapCopiesPass> {
  void runOnOperation() override {
    for (StepOp step : getOperation().getOps<StepOp>()) {
      Block &block = step.getBody().front();
      if (!llvm::all_of(block, [](Operation &op) { return !isa<AsyncCopyOp>(op); }))
        continue; // Somebody has decided already.
      Accesses accesses;
      startCopies(block, accesses);
      Waiter waiter(accesses);
      for (Operation &op : block)
        waiter.visit(&op);
    }
  }
};

} // namespace

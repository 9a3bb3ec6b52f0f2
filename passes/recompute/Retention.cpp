//===- Retention.cpp - Removal of unnecessary recomputation -----------------------------------===//

#include "passes/recompute/Retention.h"

#include "ir/attributes/DiscardableAttributes.h"

#include <functional>
#include <map>

using namespace mlir;
using namespace mtc;

/// Copies with equal times usually belong to equal layers. If this many of them are needed, the
/// others are assumed to be needed as well.
static constexpr int mostNeeded = 3;
/// Limit on the number of memory plans.
static constexpr int mostTries = 128;

/// Replaces copies by their originals and removes copies without users; can be undone.
class Retention::Drop {
public:
  Drop(OperationTimes &times, RewriterBase::Listener &listener)
      : times(times), listener(listener) {}
  ~Drop() {
    for (Operation *op : removed)
      op->erase();
  }
  Drop(const Drop &) = delete;
  Drop &operator=(const Drop &) = delete;

  /// Returns false, without any change, if a user of the copy cannot use the original.
  bool drop(const Rematerializer::Added::Copy &copy) {
    Operation *original = copy.value.getOwner();
    if (!original->isBeforeInBlock(copy.copy))
      return false;
    const bool isWhole = copy.copy->getNumResults() == original->getNumResults();
    auto originalOf = [&](OpResult result) -> Value {
      if (isWhole)
        return original->getResult(result.getResultNumber());
      return result.getResultNumber() == 0 ? copy.value : OpResult();
    };
    for (OpResult result : copy.copy->getResults())
      if (Value value = originalOf(result);
          !result.use_empty() && (!value || value.getType() != result.getType()))
        return false;
    for (OpResult result : copy.copy->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        Operation *owner = use.getOwner();
        const unsigned number = use.getOperandNumber();
        use.set(originalOf(result));
        listener.notifyOperationModified(owner);
        undo.push_back([this, owner, number, result = Value(result)] {
          owner->setOperand(number, result);
          listener.notifyOperationModified(owner);
        });
      }
    removeUnread(copy.copy);
    return true;
  }
  double getTime() const { return time; }
  void takeBack() {
    for (const std::function<void()> &each : llvm::reverse(undo))
      each();
    undo.clear();
    removed.clear();
  }

private:
  void removeUnread(Operation *op) {
    if (!op->getBlock() || !op->use_empty() || !op->hasAttr(recomputedAttribute))
      return;
    const double taken = times.of(op);
    time += taken;
    Operation *next = op->getNextNode();
    SmallVector<Value> operands(op->getOperands());
    listener.notifyOperationErased(op);
    op->remove();
    for (OpOperand &operand : op->getOpOperands())
      operand.drop();
    removed.push_back(op);
    undo.push_back([this, op, next, operands, taken] {
      next->getBlock()->getOperations().insert(next->getIterator(), op);
      for (auto [number, operand] : llvm::enumerate(operands))
        op->setOperand(number, operand);
      listener.notifyOperationInserted(op, {});
      times.set(op, taken);
    });
    for (Value operand : operands)
      if (Operation *source = operand.getDefiningOp())
        removeUnread(source);
  }

  OperationTimes &times;
  RewriterBase::Listener &listener;
  std::vector<std::function<void()>> undo;
  SmallVector<Operation *> removed;
  double time = 0;
};

void Retention::forgetErased() {
  llvm::DenseSet<Operation *> known;
  for (Operation &op : goal.function.getFunction().front())
    known.insert(&op);
  llvm::erase_if(copies, [&](const Rematerializer::Added::Copy &each) {
    return !known.contains(each.copy) || !known.contains(each.original);
  });
}

FailureOr<double> Retention::dropSuperfluous() {
  forgetErased();
  SmallVector<std::pair<double, size_t>, 0> order; // Most expensive first, ties by age.
  for (auto [i, each] : llvm::enumerate(copies))
    order.push_back({-times.of(each.copy), i});
  llvm::sort(order);
  std::map<double, int> needed; // Number of needed copies by cost.
  // Removed operations are kept alive, since other undo actions may refer to them.
  std::vector<std::unique_ptr<Drop>> drops;
  int tries = 0;
  for (auto [rank, i] : order) {
    const Rematerializer::Added::Copy &each = copies[i];
    if (!each.copy->getBlock() || !each.original->getBlock() || needed[rank] >= mostNeeded)
      continue;
    auto drop = std::make_unique<Drop>(times, listener);
    if (!drop->drop(each))
      continue;
    if (failed(goal.analysis.getPlan()))
      return failure();
    if (goal.liveBytes() <= goal.budget) {
      drops.push_back(std::move(drop));
    } else {
      ++needed[rank];
      drop->takeBack();
    }
    if (++tries == mostTries)
      break;
  }
  // The layout may exceed the budget although the live bytes do not. In this case, all drops are
  // undone.
  FailureOr<int64_t> excess = goal.findExcess();
  if (failed(excess))
    return failure();
  double saved = 0;
  for (const std::unique_ptr<Drop> &drop : llvm::reverse(drops)) {
    if (*excess > 0)
      drop->takeBack();
    else
      saved += drop->getTime();
  }
  return saved;
}

//===- CopyRemoval.cpp - Removal of a recomputed copy -----------------------------------------===//

#include "passes/recompute/CopyRemoval.h"

#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;
using namespace mtc;

CopyRemoval::~CopyRemoval() {
  for (Operation *op : removed)
    op->erase();
}

bool CopyRemoval::remove(const Rematerializer::Added::Copy &copy) {
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
      undoing.push_back([this, owner, number, result = Value(result)] {
        owner->setOperand(number, result);
        listener.notifyOperationModified(owner);
      });
    }
  removeUnread(copy.copy);
  return true;
}

void CopyRemoval::undo() {
  for (const std::function<void()> &each : llvm::reverse(undoing))
    each();
  undoing.clear();
  removed.clear();
}

void CopyRemoval::removeUnread(Operation *op) {
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
  undoing.push_back([this, op, next, operands, taken] {
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

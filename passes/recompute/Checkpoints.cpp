//===- Checkpoints.cpp - Checkpoint selection for sqrt(n) recomputation -----------------------===//

#include "passes/recompute/Checkpoints.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSlice.h"
#include "passes/recompute/Gathers.h"
#include "passes/recompute/Rematerializer.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

namespace {

int64_t bytesOf(Value value) { return byteSize(cast<RankedTensorType>(value.getType())); }

/// The operations that the loss depends on, and the uses of their results in and after the forward
/// pass.
class ForwardPass {
public:
  explicit ForwardPass(func::FuncOp function) {
    collect(function);
    for (Operation &op : function.front())
      if (contains(&op))
        add(&op);
    for (auto [value, end] : lastForwardUser)
      largest = std::max(largest, bytesOf(value));
  }

  /// Returns the operations after which the rest of the forward pass uses no earlier results of
  /// other operations.
  SmallVector<Operation *> findPassages() const {
    SmallVector<Operation *> passages;
    llvm::SmallSetVector<Operation *, 8> crossing; // Operations with results that are used later.
    for (Operation *op : operations) {
      crossing.remove_if([&](Operation *source) { return !isReadAfter(source, op); });
      if (isReadAfter(op, op))
        crossing.insert(op);
      if (crossing.size() == 1 && crossing.front() == op)
        passages.push_back(op);
    }
    return passages;
  }

  /// Returns whether the backward pass uses the value, so that it is saved.
  bool isKept(OpResult value) const { return firstBackwardUser.contains(value); }
  /// Returns whether the rest of the forward pass uses the value, and the value is not negligibly
  /// small.
  bool isReadForward(OpResult value) const {
    return lastForwardUser.contains(value) && isLarge(value);
  }
  Operation *firstUserAfter(OpResult value) const { return firstBackwardUser.lookup(value); }
  ArrayRef<Operation *> getOperations() const { return operations; }

private:
  bool contains(Operation *op) const { return forward.contains(op); }

  void collect(func::FuncOp function) {
    SmallVector<Operation *> work;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, differentiatedAttribute))
        work.push_back(function.front().getTerminator()->getOperand(i).getDefiningOp());
    while (!work.empty())
      if (Operation *op = work.pop_back_val(); op && forward.insert(op).second)
        for (Value operand : op->getOperands())
          work.push_back(operand.getDefiningOp());
  }

  void add(Operation *op) {
    // Masks depend on inputs only and do not indicate the ends of layers.
    if (isOfVariable(op->getResult(0)) || llvm::any_of(op->getOperands(), [&](Value operand) {
          return trained.contains(operand.getDefiningOp());
        }))
      trained.insert(op);
    if (op->hasTrait<mtc::View>() || isOfVariable(op->getResult(0)) || isGathered(op->getResult(0)))
      return;
    operations.push_back(op);
    for (OpResult value : op->getResults())
      for (OpOperand *use : findUses(value)) {
        Operation *user = use->getOwner();
        Operation *&known = contains(user) ? lastForwardUser[value] : firstBackwardUser[value];
        if (!known || known->isBeforeInBlock(user) == contains(user))
          known = user;
      }
  }

  bool isReadAfter(Operation *source, Operation *op) const {
    return trained.contains(source) && llvm::any_of(source->getResults(), [&](OpResult value) {
             Operation *last = lastForwardUser.lookup(value);
             return last && op->isBeforeInBlock(last) && isLarge(value);
           });
  }

  bool isLarge(Value value) const {
    return cast<RankedTensorType>(value.getType()).getNumElements() > 1 &&
           bytesOf(value) * smallPart > largest;
  }

  /// Values smaller than 1/smallPart of the largest one, such as row statistics, and single
  /// elements, such as a dropout rate, are ignored.
  static constexpr int64_t smallPart = 4096;

  llvm::DenseSet<Operation *> forward;
  llvm::DenseSet<Operation *> trained;    ///< operations in `forward` that depend on a variable
  SmallVector<Operation *, 0> operations; ///< operations that compute, in block order
  DenseMap<Value, Operation *> lastForwardUser, firstBackwardUser;
  int64_t largest = 0;
};

} // namespace

/// Returns whether a kernel computes a result elementwise from its other results, which are saved
/// in any case.
static bool isMadeOfKept(OpResult value, const ForwardPass &forward) {
  auto kernel = dyn_cast<KernelOp>(value.getOwner());
  if (!kernel)
    return false;
  auto isThere = [&](Value other) {
    auto result = dyn_cast<OpResult>(other);
    return isOfVariable(other) || !result ||
           (result.getOwner() == kernel && forward.isKept(result));
  };
  OpBuilder builder(kernel->getNextNode());
  KernelOp sliced = sliceKernel(builder, kernel, value.getResultNumber(), isThere);
  if (!sliced)
    return false;
  const bool isMade =
      sliced.getShape() == FusibleShape::Elementwise && llvm::all_of(sliced.getInputs(), isThere);
  sliced.erase();
  return isMade;
}

Checkpoints mtc::findCheckpoints(func::FuncOp function) {
  ForwardPass forward(function);
  SmallVector<Operation *> passages = forward.findPassages();
  Checkpoints found;
  if (passages.size() < 4)
    return found;
  const auto step = static_cast<size_t>(std::lround(std::sqrt(passages.size())));
  llvm::DenseSet<Operation *> checkpoints;
  Operation *last = nullptr;
  for (size_t i = step - 1; i + 1 < passages.size(); i += step)
    checkpoints.insert(last = passages[i]);
  for (Operation *op : forward.getOperations()) {
    if (op == last)
      break;
    const bool isCheckpoint = checkpoints.contains(op);
    for (OpResult value : op->getResults()) {
      if (isCheckpoint) {
        if (!forward.isKept(value) && forward.isReadForward(value) && !isMadeOfKept(value, forward))
          found.kept.push_back(value);
        continue;
      }
      if (!forward.isKept(value))
        continue;
      found.recomputed.push_back(value);
      Operation *user = forward.firstUserAfter(value);
      if (!found.forwardEnd || user->isBeforeInBlock(found.forwardEnd))
        found.forwardEnd = user;
    }
  }
  if (found.forwardEnd)
    found.forwardEnd = found.forwardEnd->getPrevNode();
  return found;
}

//===- UserIndex.cpp - Ordered index of the users of each value -------------------------------===//

#include "passes/kernels/UserIndex.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mtc;

/// Returns the slots of messages to later pipeline stages.
static llvm::DenseSet<Attribute> findSentSlots(Block &block) {
  llvm::DenseSet<Attribute> slots;
  if (auto module = block.getParentOp()->getParentOfType<ModuleOp>())
    for (auto message : module.getOps<MessageOp>())
      if (message.getSent() && !message.getBackward())
        slots.insert(message.getVariables().begin(), message.getVariables().end());
  return slots;
}

UserIndex::UserIndex(Block &block) {
  const llvm::DenseSet<Attribute> sent = findSentSlots(block);
  for (Operation &op : block) {
    int64_t position = 2 * positions.size();
    positions[&op] = position;
    if (op.hasTrait<mtc::View>())
      continue;
    if (!isa<KernelOp, ReadOp, WriteOp, CollectiveOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      calls.insert(position);
    for (Value operand : op.getOperands())
      users[rootOf(operand)][position] = &op;
    if (auto write = dyn_cast<WriteOp>(op); write && sent.contains(write.getVariableAttr()))
      lastSend = position;
  }
}

bool UserIndex::hasCallBetween(Operation *first, Operation *second) const {
  auto next = calls.upper_bound(positions.at(first));
  return next != calls.end() && *next < positions.at(second);
}

const UserIndex::Users &UserIndex::usersOf(Value root) const {
  static const Users none;
  auto found = users.find(root);
  return found == users.end() ? none : found->second;
}

bool UserIndex::isReadBefore(Value root, Operation *op) const {
  const Users &all = usersOf(root);
  return !all.empty() && all.begin()->first < positions.at(op);
}

bool UserIndex::isReadFrom(Value root, Operation *op) const {
  const Users &all = usersOf(root);
  return !all.empty() && all.rbegin()->first >= positions.at(op);
}

SmallVector<KernelOp> UserIndex::kernelsBefore(Value root, KernelOp kernel,
                                               unsigned maximum) const {
  SmallVector<KernelOp> found;
  const Users &all = usersOf(root);
  for (auto it = all.lower_bound(positions.at(kernel));
       it != all.begin() && found.size() < maximum;)
    if (auto user = dyn_cast<KernelOp>((--it)->second))
      found.push_back(user);
  return found;
}

SmallVector<KernelOp> UserIndex::kernelsAfter(Value root, KernelOp kernel, unsigned maximum) const {
  SmallVector<KernelOp> found;
  const Users &all = usersOf(root);
  for (auto it = all.upper_bound(positions.at(kernel)); it != all.end() && found.size() < maximum;
       ++it)
    if (auto user = dyn_cast<KernelOp>(it->second))
      found.push_back(user);
  return found;
}

int64_t UserIndex::remove(KernelOp kernel) {
  int64_t position = positions.at(kernel);
  for (Value input : kernel.getInputs())
    if (auto found = users.find(rootOf(input)); found != users.end())
      found->second.erase(position);
  for (Value result : kernel->getResults())
    users.erase(result);
  positions.erase(kernel);
  return position;
}

void UserIndex::insert(KernelOp kernel, int64_t position) {
  positions[kernel] = position;
  for (Value input : kernel.getInputs())
    users[rootOf(input)][position] = kernel;
  for (Value result : kernel->getResults())
    insertUsersOf(result, result);
}

void UserIndex::insertUsersOf(Value value, Value root) {
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<mtc::View>())
      insertUsersOf(user->getResult(0), root);
    else
      users[root][positions.at(user)] = user;
  }
}

void UserIndex::moveViewBefore(Operation *view, Operation *op) {
  view->moveBefore(op);
  positions[view] = positions.at(op) - 1;
}

void UserIndex::moveViewAfter(Operation *view, Operation *op) {
  view->moveAfter(op);
  positions[view] = positions.at(op) | 1;
}

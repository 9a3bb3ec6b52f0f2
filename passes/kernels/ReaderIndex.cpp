//===- ReaderIndex.cpp - Ordered index of the users of each value -----------------------------===//

#include "passes/kernels/ReaderIndex.h"

#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

ReaderIndex::ReaderIndex(Block &block) {
  for (Operation &op : block) {
    int64_t position = 2 * positions.size();
    positions[&op] = position;
    if (op.hasTrait<mtc::View>())
      continue;
    if (!isa<KernelOp, ReadOp, WriteOp, CollectiveOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      calls.insert(position);
    for (Value operand : op.getOperands())
      readers[rootOf(operand)][position] = &op;
  }
}

bool ReaderIndex::hasCallBetween(Operation *first, Operation *second) const {
  auto next = calls.upper_bound(positions.at(first));
  return next != calls.end() && *next < positions.at(second);
}

const ReaderIndex::Readers &ReaderIndex::readersOf(Value root) const {
  static const Readers none;
  auto found = readers.find(root);
  return found == readers.end() ? none : found->second;
}

bool ReaderIndex::isReadBefore(Value root, Operation *op) const {
  const Readers &all = readersOf(root);
  return !all.empty() && all.begin()->first < positions.at(op);
}

bool ReaderIndex::isReadFrom(Value root, Operation *op) const {
  const Readers &all = readersOf(root);
  return !all.empty() && all.rbegin()->first >= positions.at(op);
}

SmallVector<KernelOp> ReaderIndex::kernelsBefore(Value root, KernelOp kernel, unsigned most) const {
  SmallVector<KernelOp> found;
  const Readers &all = readersOf(root);
  for (auto it = all.lower_bound(positions.at(kernel)); it != all.begin() && found.size() < most;)
    if (auto reader = dyn_cast<KernelOp>((--it)->second))
      found.push_back(reader);
  return found;
}

SmallVector<KernelOp> ReaderIndex::kernelsBehind(Value root, KernelOp kernel, unsigned most) const {
  SmallVector<KernelOp> found;
  const Readers &all = readersOf(root);
  for (auto it = all.upper_bound(positions.at(kernel)); it != all.end() && found.size() < most;
       ++it)
    if (auto reader = dyn_cast<KernelOp>(it->second))
      found.push_back(reader);
  return found;
}

int64_t ReaderIndex::remove(KernelOp kernel) {
  int64_t position = positions.at(kernel);
  for (Value input : kernel.getInputs())
    if (auto found = readers.find(rootOf(input)); found != readers.end())
      found->second.erase(position);
  for (Value result : kernel->getResults())
    readers.erase(result);
  positions.erase(kernel);
  return position;
}

void ReaderIndex::insert(KernelOp kernel, int64_t position) {
  positions[kernel] = position;
  for (Value input : kernel.getInputs())
    readers[rootOf(input)][position] = kernel;
  for (Value result : kernel->getResults())
    insertReadersOf(result, result);
}

void ReaderIndex::insertReadersOf(Value value, Value root) {
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<mtc::View>())
      insertReadersOf(user->getResult(0), root);
    else
      readers[root][positions.at(user)] = user;
  }
}

void ReaderIndex::moveViewBefore(Operation *view, Operation *op) {
  view->moveBefore(op);
  positions[view] = positions.at(op) - 1;
}

void ReaderIndex::moveViewAfter(Operation *view, Operation *op) {
  view->moveAfter(op);
  positions[view] = positions.at(op) | 1;
}

//===- EditLog.cpp - Undoable edits of a module -----------------------------------------------===//

#include "passes/offload/EditLog.h"

using namespace mlir;
using namespace mtc;

void EditLog::recordInsertion(Operation *op) {
  listener.notifyOperationInserted(op, {});
  undoing.push_back([this, op] {
    listener.notifyOperationErased(op);
    op->erase();
  });
}

void EditLog::setOperand(OpOperand &operand, Value value) {
  Operation *owner = operand.getOwner();
  undoing.push_back([this, owner, number = operand.getOperandNumber(), old = operand.get()] {
    owner->setOperand(number, old);
    listener.notifyOperationModified(owner);
  });
  operand.set(value);
  listener.notifyOperationModified(owner);
}

void EditLog::moveBefore(Operation *op, Operation *place) {
  auto move = [this, op](Operation *next) {
    op->moveBefore(next);
    listener.notifyOperationInserted(op, {});
  };
  undoing.push_back([move, next = op->getNextNode()] { move(next); });
  move(place);
}

void EditLog::setSpace(VariableOp variable, MemorySpace space) {
  auto set = [this, variable](MemorySpace to) mutable {
    variable.setSpace(to);
    listener.notifyOperationModified(variable);
  };
  undoing.push_back([set, old = variable.getSpace()]() mutable { set(old); });
  set(space);
}

void EditLog::setOnHost(KernelOp kernel) {
  auto set = [this, kernel](bool isOnHost) mutable {
    kernel.setOnHost(isOnHost);
    listener.notifyOperationModified(kernel);
  };
  undoing.push_back([set]() mutable { set(false); });
  set(true);
}

void EditLog::setSize(TransferSlotsOp slots, int64_t bytes) {
  auto set = [this, slots](int64_t to) mutable {
    slots.setSize(to);
    listener.notifyOperationModified(slots);
  };
  undoing.push_back([set, old = static_cast<int64_t>(slots.getSize())]() mutable { set(old); });
  set(bytes);
}

void EditLog::undoTo(size_t mark) {
  while (undoing.size() > mark) {
    undoing.back()();
    undoing.pop_back();
  }
}

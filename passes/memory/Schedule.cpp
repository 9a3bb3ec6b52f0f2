//===- Schedule.cpp - Execution order of a function's operations ------------------------------===//

#include "passes/memory/Schedule.h"

using namespace mlir;
using namespace mtc;

PlannedAccesses::PlannedAccesses(ArrayRef<PlannedOperation *> text) {
  for (PlannedOperation *op : text) {
    for (FlatSymbolRefAttr variable : op->read)
      readers[variable].push_back(op);
    for (FlatSymbolRefAttr variable : op->written)
      writers[variable].push_back(op);
  }
}

namespace {

/// Determines the operation after which each write runs.
class WriteScheduler {
public:
  WriteScheduler(ArrayRef<PlannedOperation *> text, const PlannedAccesses &accesses)
      : text(text), accesses(accesses) {
    for (auto [number, op] : llvm::enumerate(text)) {
      op->path.assign(1, static_cast<int64_t>(number));
      op->movedAfter.clear();
      for (PlannedValue &result : op->results) {
        result.lastUser = op;
        result.writers.clear();
      }
      if (op->isView)
        continue;
      for (PlannedValue *operand : op->operands)
        if (op->written.empty())
          operand->lastUser = op;
        else
          operand->writers.push_back(op);
    }
  }

  LogicalResult run() {
    // Operations are visited in reverse order, so that a write of a value that later writes use is
    // moved before those writes.
    for (PlannedOperation *op : llvm::reverse(text))
      if (!op->written.empty() && failed(schedule(op)))
        return failure();
    return success();
  }

private:
  static PlannedOperation *later(PlannedOperation *a, PlannedOperation *b) {
    return a->isBefore(*b) ? b : a;
  }

  /// Returns the last use of the old values of the variables that `write` replaces, or `write` if
  /// there is none.
  PlannedOperation *lastUseOfOldValues(PlannedOperation *write) {
    PlannedOperation *last = write;
    for (FlatSymbolRefAttr variable : write->written)
      for (PlannedOperation *read : accesses.readersOf(variable)) {
        if (!read->isBefore(*write))
          continue;
        last = later(last, read->results[0].lastUser);
        for (PlannedOperation *user : read->results[0].writers)
          last = later(last, user);
      }
    return last;
  }

  LogicalResult schedule(PlannedOperation *write) {
    PlannedOperation *last = lastUseOfOldValues(write);
    if (last == write)
      return success();
    auto isBetween = [&](PlannedOperation *op) {
      return write->isBefore(*op) && !last->isBefore(*op);
    };
    for (FlatSymbolRefAttr variable : write->written)
      if (llvm::any_of(accesses.readersOf(variable), isBetween) ||
          llvm::any_of(accesses.writersOf(variable), isBetween))
        return write->op->emitOpError(
            "assigns a variable a new value before the last use of its old value");
    if (last->op->hasTrait<OpTrait::IsTerminator>())
      return write->op->emitOpError("overwrites a value that the function returns");
    write->path = last->path;
    write->path.push_back(-static_cast<int64_t>(last->movedAfter.size()));
    last->movedAfter.push_back(write);
    return success();
  }

  ArrayRef<PlannedOperation *> text;
  const PlannedAccesses &accesses;
};

} // namespace

static void append(PlannedOperation *op, SmallVectorImpl<PlannedOperation *> &order) {
  op->time = static_cast<int64_t>(order.size());
  order.push_back(op);
  for (PlannedValue &result : op->results)
    result.lastUse = op->time;
  if (!op->isView)
    for (PlannedValue *operand : op->operands)
      operand->lastUse = op->time;
  for (PlannedOperation *moved : llvm::reverse(op->movedAfter))
    append(moved, order);
}

FailureOr<SmallVector<PlannedOperation *, 0>> mtc::schedule(ArrayRef<PlannedOperation *> text,
                                                            const PlannedAccesses &accesses) {
  if (failed(WriteScheduler(text, accesses).run()))
    return failure();
  SmallVector<PlannedOperation *, 0> order;
  order.reserve(text.size());
  for (PlannedOperation *op : text)
    if (op->path.size() == 1)
      append(op, order);
  return order;
}

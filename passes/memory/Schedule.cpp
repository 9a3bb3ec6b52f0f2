//===- Schedule.cpp - The order in which a function's operations run --------------------------===//

#include "passes/memory/Schedule.h"

#include "ir/VariableAccess.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Finds the operation behind which each write runs.
class WriteScheduler {
public:
  explicit WriteScheduler(Block &block) : block(block), accesses(block) {
    for (Operation &op : block)
      paths[&op] = {static_cast<int64_t>(paths.size())};
  }

  LogicalResult run() {
    // The writes of values that later writes use move before these do.
    for (Operation &op : llvm::reverse(block))
      if (!writtenVariables(&op).empty() && failed(schedule(&op)))
        return failure();
    return success();
  }

  SmallVector<Operation *, 0> getOrder() {
    SmallVector<Operation *, 0> order;
    for (Operation &op : block)
      if (paths.at(&op).size() == 1)
        append(&op, order);
    return order;
  }

private:
  /// Where an operation stands: its number in the block or, if it was moved, the path of what it
  /// stands behind and its turn there. What was moved last comes first.
  using Path = SmallVector<int64_t, 2>;

  bool isBefore(Operation *a, Operation *b) { return paths.at(a) < paths.at(b); }

  /// The last operation that uses a value or a view of it.
  Operation *lastUserOf(Value value) {
    Operation *last = value.getDefiningOp();
    for (Operation *user : value.getUsers()) {
      Operation *candidate = user->hasTrait<mtc::View>() ? lastUserOf(user->getResult(0)) : user;
      if (isBefore(last, candidate))
        last = candidate;
    }
    return last;
  }

  /// The last use of the old values of the variables that `write` replaces; `write` itself without
  /// one.
  Operation *lastUseOfOldValues(Operation *write) {
    Operation *last = write;
    for (FlatSymbolRefAttr variable : writtenVariables(write))
      for (Operation *read : accesses.readersOf(variable)) {
        if (!isBefore(read, write))
          continue;
        Operation *user = lastUserOf(read->getResult(0));
        if (isBefore(last, user))
          last = user;
      }
    return last;
  }

  LogicalResult schedule(Operation *write) {
    Operation *last = lastUseOfOldValues(write);
    if (last == write)
      return success();
    auto isBetween = [&](Operation *op) { return isBefore(write, op) && !isBefore(last, op); };
    for (FlatSymbolRefAttr variable : writtenVariables(write))
      if (llvm::any_of(accesses.readersOf(variable), isBetween) ||
          llvm::any_of(accesses.writersOf(variable), isBetween))
        return write->emitOpError(
            "gives a variable a new value that is used before the last use of its old one");
    if (last->hasTrait<OpTrait::IsTerminator>())
      return write->emitOpError("replaces a value that the function returns");
    SmallVector<Operation *> &moved = behind[last];
    Path path = paths.at(last);
    path.push_back(-static_cast<int64_t>(moved.size()));
    moved.push_back(write);
    paths[write] = std::move(path);
    return success();
  }

  void append(Operation *op, SmallVector<Operation *, 0> &order) {
    order.push_back(op);
    if (auto found = behind.find(op); found != behind.end())
      for (Operation *moved : llvm::reverse(found->second))
        append(moved, order);
  }

  Block &block;
  VariableAccesses accesses;
  DenseMap<Operation *, Path> paths;
  DenseMap<Operation *, SmallVector<Operation *>> behind;
};

} // namespace

FailureOr<Schedule> Schedule::compute(func::FuncOp function) {
  WriteScheduler scheduler(function.getBody().front());
  if (failed(scheduler.run()))
    return failure();
  return Schedule(scheduler.getOrder());
}

Schedule::Schedule(SmallVector<Operation *, 0> operations) : order(std::move(operations)) {
  for (auto [time, op] : llvm::enumerate(order))
    times[op] = time;
}

//===- Schedule.h - Execution order of a function's operations --------------------------------===//

#ifndef MTC_PASSES_MEMORY_SCHEDULE_H
#define MTC_PASSES_MEMORY_SCHEDULE_H

#include "passes/memory/PlannedOperation.h"

namespace mtc {

/// Operations of a function that read and write each variable, in block order.
class PlannedAccesses {
public:
  explicit PlannedAccesses(mlir::ArrayRef<PlannedOperation *> text = {});

  mlir::ArrayRef<PlannedOperation *> readersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(readers, variable);
  }
  mlir::ArrayRef<PlannedOperation *> writersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(writers, variable);
  }

private:
  using ByVariable = llvm::DenseMap<mlir::Attribute, mlir::SmallVector<PlannedOperation *, 2>>;
  static mlir::ArrayRef<PlannedOperation *> find(const ByVariable &map, mlir::Attribute variable) {
    auto found = map.find(variable);
    return found == map.end() ? mlir::ArrayRef<PlannedOperation *>() : found->second;
  }

  ByVariable readers, writers;
};

/// Computes the schedule of a function. Sets the `time` of each operation and the `lastUse` of each
/// value. The schedule is the block order, except that a write to a variable is delayed until after
/// the last use of the variable's old value, which occupies the variable's buffer. Fails with a
/// diagnostic if a new value is read or replaced before the last use of the old value.
mlir::FailureOr<mlir::SmallVector<PlannedOperation *, 0>>
schedule(mlir::ArrayRef<PlannedOperation *> text, const PlannedAccesses &accesses);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_SCHEDULE_H

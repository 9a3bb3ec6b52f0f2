//===- Schedule.h - The order in which a function's operations run ----------------------------===//

#ifndef MTC_PASSES_MEMORY_SCHEDULE_H
#define MTC_PASSES_MEMORY_SCHEDULE_H

#include "passes/memory/PlannedOperation.h"

namespace mtc {

/// Which operations of a function read and write each variable, in the text's order.
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

/// Gives the operations of a function the order in which they run, their `time` and the `lastUse`
/// of their values. The order is that of the text, but for writes, which come after the last use of
/// their variable's old value, since that lies in the variable's buffer.
/// Fails with a diagnostic where a new value is read or replaced before the last use of the old.
mlir::FailureOr<mlir::SmallVector<PlannedOperation *, 0>>
schedule(mlir::ArrayRef<PlannedOperation *> text, const PlannedAccesses &accesses);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_SCHEDULE_H

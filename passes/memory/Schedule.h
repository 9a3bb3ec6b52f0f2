//===- Schedule.h - The order in which a function's operations run ----------------------------===//

#ifndef MTC_PASSES_MEMORY_SCHEDULE_H
#define MTC_PASSES_MEMORY_SCHEDULE_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// The operations of a function in the order in which they run: that of its text, but for writes,
/// which come behind the last use of their variable's old value, since that lies in the variable's
/// slice.
class Schedule {
public:
  /// Fails with a diagnostic where a new value is read or replaced before the last use of the old.
  static mlir::FailureOr<Schedule> compute(mlir::func::FuncOp function);

  mlir::ArrayRef<mlir::Operation *> getOrder() const { return order; }
  /// The number of an operation in this order.
  int64_t timeOf(mlir::Operation *op) const { return times.lookup(op); }
  /// The time behind the last operation.
  int64_t getEnd() const { return order.size(); }

private:
  explicit Schedule(mlir::SmallVector<mlir::Operation *, 0> operations);

  mlir::SmallVector<mlir::Operation *, 0> order;
  llvm::DenseMap<mlir::Operation *, int64_t> times;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_SCHEDULE_H

//===- FunctionMemory.h - The memory of one function, kept while it changes -------------------===//

#ifndef MTC_PASSES_MEMORY_FUNCTIONMEMORY_H
#define MTC_PASSES_MEMORY_FUNCTIONMEMORY_H

#include "passes/memory/BufferAssignment.h"

#include <memory>
#include <vector>

namespace mtc {

/// The schedule of a function, its buffers, and the bytes that are alive at each time. After a
/// change, only the operations that changed are read again, and what users of a changed view read.
class FunctionMemory {
public:
  explicit FunctionMemory(mlir::func::FuncOp function);

  /// To be told before an operation of the function's block is erased, and after one was inserted,
  /// moved, or changed inside.
  void erase(mlir::Operation *op);
  void insert(mlir::Operation *op);
  void change(mlir::Operation *op);
  /// To be told when the layout of variables or arguments changed.
  void changeContext() { isStale = true; }

  /// Follows the changes. Fails with a diagnostic where there is no schedule.
  mlir::LogicalResult update(const MemoryContext &context);

  mlir::func::FuncOp getFunction() const { return function; }
  /// Its operations as they stand in the text, and in the order in which they run.
  mlir::ArrayRef<PlannedOperation *> getText() const { return text; }
  mlir::ArrayRef<PlannedOperation *> getOrder() const { return order; }
  const BufferAssignment &getBuffers() const { return buffers; }
  /// Whether only a run of its own executes it: it writes transient variables, or says so.
  bool isAside() const { return aside; }
  /// Bytes of buffers with a lifetime that are alive at each time of the schedule.
  mlir::ArrayRef<int64_t> getLive() const { return live; }
  /// The first time at which the most is alive.
  int64_t getPeakTime() const { return peakTime; }
  /// How many operations were read so far, counting one again when it was read again.
  int64_t getReads() const { return reads; }
  /// What following the changes has taken so far: a step for each operation that was put into an
  /// order, and as many as a read takes for each that was read. The same on every machine.
  int64_t getEffort() const { return effort; }

  const PlannedValue &operator[](mlir::Value value) const;
  const PlannedOperation &operator[](mlir::Operation *op) const { return *operations.at(op); }

private:
  PlannedValue *find(mlir::Value root) const;
  void collect();
  mlir::LogicalResult refresh();
  void sum();

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<PlannedOperation>> operations;
  std::vector<PlannedValue> arguments;
  bool isStale = true;          ///< something has changed
  bool isOrderStale = true;     ///< an operation was inserted, moved or erased
  bool areAccessesStale = true; ///< one that reads or writes variables was
  int64_t reads = 0, effort = 0;

  mlir::SmallVector<PlannedOperation *, 0> text, order;
  PlannedAccesses accesses;
  BufferAssignment buffers;
  bool aside = false;
  mlir::SmallVector<int64_t, 0> live;
  int64_t peakTime = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_FUNCTIONMEMORY_H

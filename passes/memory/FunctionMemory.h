//===- FunctionMemory.h - Incremental memory analysis of one function -------------------------===//

#ifndef MTC_PASSES_MEMORY_FUNCTIONMEMORY_H
#define MTC_PASSES_MEMORY_FUNCTIONMEMORY_H

#include "passes/memory/BufferAssignment.h"

#include <memory>
#include <vector>

namespace mtc {

/// The schedule of a function, its buffers, and the live bytes at each position of the schedule.
/// The analysis is incremental: after a change, only the changed operations and the users of
/// changed views are analyzed again.
class FunctionMemory {
public:
  explicit FunctionMemory(mlir::func::FuncOp function);

  /// Must be called before an operation of the function's block is erased, and after one is
  /// inserted, moved, or modified (nested regions included).
  void erase(mlir::Operation *op);
  void insert(mlir::Operation *op);
  void change(mlir::Operation *op);
  /// Must be called after the layout of variables or arguments changes.
  void changeContext() { isStale = true; }

  /// Updates the analysis after changes. Fails with a diagnostic if no valid schedule exists.
  mlir::LogicalResult update(const MemoryContext &context);

  mlir::func::FuncOp getFunction() const { return function; }
  /// Operations in block order, except that the forward part of a micro-step that will be split
  /// precedes the backward part; and in schedule order.
  mlir::ArrayRef<PlannedOperation *> getText() const { return text; }
  mlir::ArrayRef<PlannedOperation *> getOrder() const { return order; }
  const BufferAssignment &getBuffers() const { return buffers; }
  /// Returns the parts of a micro-step that will be split; null for other functions.
  const MicroStepSplit *getSplit() const { return split ? &*split : nullptr; }
  /// Returns whether the function runs only in a separate run such as `--gradients` and not during
  /// training: it writes transient variables or has the corresponding attribute.
  bool hasSeparateArena() const { return separate; }
  /// Live bytes of buffers with a live range at each position of the schedule.
  mlir::ArrayRef<int64_t> getLive() const { return live; }
  /// Returns the first schedule position with the maximum number of live bytes.
  int64_t getPeakTime() const { return peakTime; }
  /// Returns the bytes of an arena of the temporaries alone: at most `enough` if a layout of this
  /// size is found, the smallest known one otherwise.
  int64_t findArenaBytes(int64_t enough) const {
    return arenaSize.find(enough, [&] { return llvm::ArrayRef(buffers.temporaries); });
  }
  /// Number of operations analyzed so far, repeated analyses included.
  int64_t getReads() const { return reads; }
  /// Deterministic cost of all updates so far: one unit for each scheduled operation, and
  /// `effortOfRead` units for each analyzed operation. It is equal on every machine.
  int64_t getEffort() const { return effort; }

  const PlannedValue &operator[](mlir::Value value) const;
  const PlannedOperation &operator[](mlir::Operation *op) const { return *operations.at(op); }

private:
  PlannedValue *find(mlir::Value root) const;
  void collect(bool mayBeSplit);
  mlir::LogicalResult refresh();
  void sum();

  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<PlannedOperation>> operations;
  std::vector<PlannedValue> arguments;
  bool isStale = true;          ///< some update is pending
  bool isOrderStale = true;     ///< an operation was inserted, moved or erased
  bool areAccessesStale = true; ///< an operation that accesses variables was changed
  int64_t reads = 0, effort = 0;

  mlir::SmallVector<PlannedOperation *, 0> text, order;
  std::optional<MicroStepSplit> split;
  PlannedAccesses accesses;
  BufferAssignment buffers;
  bool separate = false;
  mlir::SmallVector<int64_t, 0> live;
  int64_t peakTime = 0;
  mutable ArenaSize arenaSize;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_FUNCTIONMEMORY_H

//===- WindowMover.h - Accesses offloaded variables in windows of kernels ---------------------===//

#ifndef MTC_PASSES_OFFLOAD_WINDOWMOVER_H
#define MTC_PASSES_OFFLOAD_WINDOWMOVER_H

#include "passes/kernels/KernelWindows.h"
#include "passes/offload/VariableMover.h"

#include "llvm/ADT/SetVector.h"

namespace mtc {

/// A kernel that writes an offloaded variable runs in windows of its rows. Other users, and kernels
/// that cannot run in windows, get a copy of the whole variable on the device, and a value that
/// they write to the variable is copied back.
class WindowMover final : public VariableMover {
public:
  WindowMover(mlir::ModuleOp module, const MemoryAnalysis &analysis, OperationTimes &times,
              int64_t window)
      : VariableMover(module, analysis, times, window), slotBytes(presentSlotBytes) {}

  std::string plan(const VariableGroup &group) override;
  int64_t getSlotBytes() const override { return slotBytes; }
  int64_t getCopiedBytes(const FunctionMemory &function, int64_t time) const override;
  void apply(EditLog &edits) override;

private:
  /// A copy of a whole variable on the device for operations that are close to each other.
  struct Fetch {
    const FunctionMemory *function;
    mlir::Value value;
    mlir::SmallVector<mlir::Operation *, 2> users;
    int64_t begin, firstUse, lastUse; ///< positions of the schedule
    bool startsBeforeRead;
  };
  /// A write of a whole value that is computed on the device.
  struct WriteBack {
    const FunctionMemory *function;
    mlir::Operation *write;
    int64_t time, release;
  };
  /// The changes for one group, or the sums of all fields for all planned groups.
  struct Moves {
    std::vector<VariableOp> variables;
    std::vector<Fetch> fetches;
    std::vector<WriteBack> writes;
  };
  using Operands = llvm::SmallSetVector<unsigned, 4>;

  static Operands findPresent(const PlannedOperation &kernel);
  std::string tryWindows(KernelOp kernel, const PlannedOperation &op,
                         const llvm::DenseSet<mlir::Value> &values);
  void addFetches(const FunctionMemory &function, mlir::Value value, int64_t after,
                  llvm::function_ref<bool(mlir::Operation *)> isInWindows, Moves &moves);

  int64_t slotBytes;
  /// Operands of kernels in windows that are in planned groups.
  llvm::DenseMap<mlir::Operation *, Operands> planned;
  Moves all;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_WINDOWMOVER_H

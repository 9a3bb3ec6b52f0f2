//===- VariableMover.h - Moves variables to another memory space ------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_VARIABLEMOVER_H
#define MTC_PASSES_OFFLOAD_VARIABLEMOVER_H

#include "passes/kernels/KernelWindows.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/offload/CopyPlacement.h"
#include "passes/offload/EditLog.h"
#include "passes/offload/VariableGroups.h"
#include "passes/search/TransferTimes.h"

#include "llvm/ADT/SetVector.h"

namespace mtc {

/// Decides how the operations of a module access variables in another memory space, and rewrites
/// the module accordingly.
///
/// A kernel that writes such a variable runs in windows of its rows. Other users, and kernels that
/// cannot run in windows, get a copy of the whole variable on the device, and a value that they
/// write to the variable is copied back.
///
/// The module must not change while groups are planned. Each group is planned under the assumption
/// that the groups planned before it are moved.
class VariableMover {
public:
  static constexpr int64_t slotCount = 4;

  /// `window` is the maximum size of a transfer slot. `analysis` must be up to date.
  VariableMover(mlir::ModuleOp module, const MemoryAnalysis &analysis, OperationTimes &times,
                int64_t window);
  VariableMover(const VariableMover &) = delete; // The placements refer to `target`.

  /// Plans the accesses to a group, and returns the reason if it cannot be moved, "" otherwise.
  std::string plan(const VariableGroup &group);

  /// Returns the size of a slot for the planned groups and the present ones; 0 without windows.
  int64_t getSlotBytes() const { return slotBytes; }
  /// Returns the bytes on the device that the planned copies need while an operation runs.
  int64_t getCopiedBytes(const FunctionMemory &function, int64_t time) const;
  /// Returns the time that the planned groups add to an update, in seconds.
  double getAddedSeconds();
  /// Moves the planned groups.
  void apply(EditLog &edits);

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
  struct Access {
    const FunctionMemory *function;
    const PlannedOperation *op;
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
  void add(const FunctionMemory &function, PlannedCopy copy) { copies[&function].push_back(copy); }

  mlir::ModuleOp module;
  OperationTimes &times;
  TargetInfo target;
  const int64_t window;
  const int64_t presentSlotBytes;
  int64_t slotBytes;
  int64_t limit = 0; ///< Maximum number of live bytes of all functions.
  llvm::DenseMap<mlir::Attribute, mlir::SmallVector<Access, 2>> reads, writes; ///< by variable
  /// Operands of kernels in windows that are in planned groups.
  llvm::DenseMap<mlir::Operation *, Operands> planned;
  llvm::MapVector<const FunctionMemory *, mlir::SmallVector<PlannedCopy>> copies;
  llvm::DenseMap<const FunctionMemory *, TransferTimes> before; ///< Times without `copies`.
  llvm::DenseMap<const FunctionMemory *, std::unique_ptr<CopyPlacement>> placements;
  Moves all;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_VARIABLEMOVER_H

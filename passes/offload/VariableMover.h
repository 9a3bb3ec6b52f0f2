//===- VariableMover.h - Moves variables to another memory space ------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_VARIABLEMOVER_H
#define MTC_PASSES_OFFLOAD_VARIABLEMOVER_H

#include "passes/memory/MemoryAnalysis.h"
#include "passes/offload/CopyPlacement.h"
#include "passes/offload/EditLog.h"
#include "passes/offload/VariableGroups.h"
#include "passes/search/TransferTimes.h"

namespace mtc {

/// Decides how the operations of a module access variables in another memory space, and rewrites
/// the module accordingly.
///
/// The module must not change while groups are planned. Each group is planned under the assumption
/// that the groups planned before it are moved.
class VariableMover {
public:
  static constexpr int64_t slotCount = 4;

  VariableMover(const VariableMover &) = delete; // The placements refer to `target`.
  virtual ~VariableMover() = default;

  /// Plans the accesses to a group, and returns the reason if it cannot be moved, "" otherwise.
  virtual std::string plan(const VariableGroup &group) = 0;
  /// Returns the size of a slot on the device for the planned groups and the present ones; 0
  /// without windows.
  virtual int64_t getSlotBytes() const { return presentSlotBytes; }
  /// Returns the bytes on the device that the planned copies need while an operation runs.
  virtual int64_t getCopiedBytes(const FunctionMemory &function, int64_t time) const = 0;
  /// Returns the time that the planned groups add to an update, in seconds.
  double getAddedSeconds();
  /// Moves the planned groups.
  virtual void apply(EditLog &edits) = 0;

protected:
  struct Access {
    const FunctionMemory *function;
    const PlannedOperation *op;
  };
  using Accesses = llvm::DenseMap<mlir::Attribute, mlir::SmallVector<Access, 2>>;

  /// `window` is the maximum size of a transfer slot. `analysis` must be up to date.
  VariableMover(mlir::ModuleOp module, const MemoryAnalysis &analysis, OperationTimes &times,
                int64_t window);

  void add(const FunctionMemory &function, PlannedCopy copy) { copies[&function].push_back(copy); }
  /// Returns the accesses to a group. An operation may access several variables.
  static mlir::SmallVector<Access> accessesTo(const VariableGroup &group, const Accesses &all);
  /// Creates the slots of a memory space, or enlarges them, for slots of `bytes` bytes.
  void provideSlots(MemorySpace space, int64_t bytes, EditLog &edits);
  /// Returns the last position at which a value's memory is kept while it is copied to another
  /// memory space after the operation at `time`, and keeps it until then in further queries.
  int64_t reserveRelease(const FunctionMemory &function, int64_t time, int64_t bytes);
  /// Keeps the memory of values until the operation at position `release` if that is after `time`.
  void hold(const FunctionMemory &function, mlir::ValueRange values, int64_t time, int64_t release,
            EditLog &edits);

  mlir::ModuleOp module;
  OperationTimes &times;
  TargetInfo target;
  const int64_t window;
  const int64_t presentSlotBytes;
  int64_t limit = 0;      ///< Maximum number of live bytes of all functions.
  Accesses reads, writes; ///< by variable
  llvm::MapVector<const FunctionMemory *, mlir::SmallVector<PlannedCopy>> copies;
  llvm::DenseMap<const FunctionMemory *, TransferTimes> before; ///< Times without `copies`.
  llvm::DenseMap<const FunctionMemory *, std::unique_ptr<CopyPlacement>> placements;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_VARIABLEMOVER_H

//===- MemoryAnalysis.h - Incremental memory analysis of a module -----------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYANALYSIS_H
#define MTC_PASSES_MEMORY_MEMORYANALYSIS_H

#include "passes/memory/FunctionMemory.h"
#include "passes/memory/MemoryPlan.h"

#include "llvm/ADT/MapVector.h"

#include <array>

namespace mtc {

/// Computes the memory that the functions of a module need when they run one after another: the
/// schedule of their operations, live ranges, buffer sharing and, on request, the offset of each
/// buffer in one arena. The analysis does not modify the module.
///
/// The analysis is incremental. It is a listener of the rewriter that modifies the module, and a
/// later query only analyzes the changed operations. Passes therefore evaluate a rewrite by
/// applying it and querying again.
///
/// The device arena contains, in this order: variables, inputs, staging space for the inputs of the
/// next batch, transfer slots, and the temporaries of the functions. Variables in other memory
/// spaces are allocated in the arenas of those spaces. Functions that only `--gradients` or
/// `--outputs` runs execute (`hasSeparateArena`) have a separately sized arena, so that their
/// temporaries do not count toward the peak of training.
class MemoryAnalysis : public mlir::RewriterBase::Listener {
public:
  /// The layout leaves `redzone` unused bytes after each value; `redzone` must be a multiple of the
  /// arena's alignment.
  explicit MemoryAnalysis(mlir::ModuleOp module, int64_t redzone = 0)
      : module(module), redzone(redzone) {}

  /// Analyzes the changes since the last query. Fails with a diagnostic if no schedule or variable
  /// layout exists.
  mlir::LogicalResult update();
  /// Like `update`, and returns the bytes of the arena of training: at most `enough` if a layout of
  /// this size is found, the smallest known one otherwise.
  mlir::FailureOr<int64_t> findArenaBytes(int64_t enough = 0);
  /// Like `update`, and returns the memory plan. Without a layout, the plan's peak is the maximum
  /// number of live bytes, which is much cheaper to compute than a layout.
  mlir::FailureOr<MemoryPlan> getPlan();
  mlir::FailureOr<MemoryPlan> getPlanWithLayout();

  /// Only analyzes variables and arguments, and returns the bytes shared by all functions.
  mlir::FailureOr<int64_t> findFixedBytes();

  /// Bytes shared by all functions: variables, inputs, staging and transfer slots, and the slots
  /// that splits of micro-steps will add.
  int64_t getFixedBytes() const { return fixed; }
  /// Bytes of the slots that splits of micro-steps will add, which recomputation lowers.
  int64_t getSavedBytes() const { return saved; }
  /// Maximum number of live bytes in training, which is a lower bound on the bytes of the arena.
  int64_t getLiveBytes() const;
  /// Returns a lower bound on the peak under any schedule and recomputation (see `findFloor`).
  int64_t findFloor() const;

  // State of the module at the last query. Offsets require a query with layout.
  /// The functions of the program, without the bodies of scans.
  auto getFunctions() const { return llvm::make_pointee_range(llvm::make_second_range(functions)); }
  /// Returns the memory of a scan's body. Offsets of its temporaries are relative to the scan's
  /// scratch memory. Offsets of its other values are relative to the scan's operands and results.
  const FunctionMemory &getBody(ScanOp scan) const;
  const VariableLayout &getVariables() const { return variables; }
  /// Offset of the first transfer slot of a memory space. The slots are the last part of the shared
  /// bytes of the device, and follow the variables in other spaces.
  int64_t getSlotsOffset(MemorySpace space = MemorySpace::Device) const;
  /// Bytes of one transfer slot; 0 if there are none.
  int64_t getSlotBytes(MemorySpace space = MemorySpace::Device) const {
    return slots[static_cast<unsigned>(space)].bytesOfOne;
  }
  int64_t offsetOf(const FunctionMemory &function, Buffer buffer) const;
  /// Returns the ranges of the device arena, in ascending order, that hold no temporary of a
  /// function from position `begin` to position `end` of its schedule. They are part of the arena
  /// of training, so that there are none for other functions.
  mlir::SmallVector<std::pair<int64_t, int64_t>> findFree(const FunctionMemory &function,
                                                          int64_t begin, int64_t end) const;
  int64_t offsetOf(const FunctionMemory &function, mlir::Value value) const;

  /// Number of operations analyzed so far, repeated analyses included.
  int64_t getReads() const;
  /// Deterministic cost of all queries so far; see FunctionMemory::getEffort.
  int64_t getEffort() const;
  /// Adds the effort of queries that a caller avoids, so that a search limited by the effort does
  /// not depend on them.
  void addEffort(int64_t effort) { addedEffort += effort; }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  /// Arena layout of the temporaries of a set of functions: those with `hasSeparateArena`, or all
  /// others.
  struct Region {
    ArenaLayout layout;
    /// Index of each function's first temporary
    llvm::DenseMap<const FunctionMemory *, size_t> first;
  };
  Region layOutRegion(bool ofSeparateArena) const;
  /// Returns the temporaries of the functions of a region, one function after another.
  mlir::SmallVector<LiveBuffer, 0> collectTemporaries(bool ofSeparateArena) const;
  Region layOutMovedAway() const;
  /// Returns the number of bytes that a function with a separate arena needs for its temporaries.
  int64_t findEnd(const FunctionMemory &function) const;
  /// Offset of the first offloaded value in the arena of a memory space.
  int64_t getMovedOffset(MemorySpace space) const;

  using Change = void (FunctionMemory::*)(mlir::Operation *op);
  /// Notifies the enclosing function of a change to `op`, an operation nested in `parent`.
  void notify(mlir::Operation *parent, mlir::Operation *op, Change change);
  mlir::LogicalResult updateModule();
  mlir::LogicalResult updateBodies(const TargetInfo &target);
  void updateFixedBytes();
  void updateLayout();
  MemoryPlan summarize(bool isAllocated) const;
  void addPeak(MemoryPlan &plan, int64_t &workspace) const;

  mlir::ModuleOp module;
  const int64_t redzone;
  bool isModuleStale = true; ///< target, functions, variables or arguments have changed
  bool isLayoutStale = true;
  mlir::Attribute target;
  VariableLayout variables;
  MemoryPlan::Categories variableCategories;
  ArgumentLayout arguments;
  bool hasMessages = false;
  int64_t fixed = 0, saved = 0, savedBySplit = 0, staging = 0;
  struct Slots {
    int64_t bytes = 0, bytesOfOne = 0;
  };
  std::array<Slots, getMaxEnumValForMemorySpace() + 1> slots; ///< by memory space
  llvm::MapVector<mlir::Operation *, std::unique_ptr<FunctionMemory>> functions, bodies;
  llvm::DenseMap<const FunctionMemory *, ArenaLayout> bodyLayouts;
  llvm::DenseMap<mlir::Attribute, int64_t> bodyBytes; ///< by symbol
  Region common, separate, movedAway;
  ArenaSize arenaSize; ///< Without the shared bytes.
  int64_t addedEffort = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYANALYSIS_H

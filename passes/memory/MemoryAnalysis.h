//===- MemoryAnalysis.h - Questions about the memory of a module ------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYANALYSIS_H
#define MTC_PASSES_MEMORY_MEMORYANALYSIS_H

#include "passes/memory/FunctionMemory.h"
#include "passes/memory/MemoryPlan.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// Answers, again and again, what the functions of a module need of memory when they run one after
/// another: an order of their operations, lifetimes, which values share a buffer and, if asked,
/// each buffer's offset in one arena. It only reads the module. Between two questions the module
/// may change: the analysis is a listener of the rewriter that changes it, and a later answer costs
/// reading what has changed, and additions; so a pass asks what a change is worth by making it.
///
/// The device's arena holds its variables, then the inputs, then room for the next batch's inputs
/// (staging), the slots of transfers, then what the functions keep while they run. Variables in
/// other spaces lie in the arenas of these. Functions that run aside have an arena of a size of
/// their own, so that what only they keep is not part of the others'.
class MemoryAnalysis : public mlir::RewriterBase::Listener {
public:
  /// `redzone` bytes, a multiple of the alignment, are left free behind each value by the layout.
  explicit MemoryAnalysis(mlir::ModuleOp module, int64_t redzone = 0)
      : module(module), redzone(redzone) {}

  /// What the module needs now. Without a layout its peak is the most that is alive at once, which
  /// is a fraction of the cost. Fails with a diagnostic where there is no order or layout.
  mlir::FailureOr<MemoryPlan> getPlan();
  mlir::FailureOr<MemoryPlan> getPlanWithLayout();

  /// Bytes of the arena that all functions share: variables, inputs, staging and slots.
  int64_t getFixedBytes() const { return fixed; }

  // Of the module as it was when a plan was asked for last; offsets need a layout.
  auto getFunctions() const { return llvm::make_pointee_range(llvm::make_second_range(functions)); }
  const VariableLayout &getVariables() const { return variables; }
  /// Where the first slot of transfers is; they end the bytes that all functions share.
  int64_t getSlotsOffset() const { return fixed - slots; }
  int64_t offsetOf(const FunctionMemory &function, Buffer buffer) const;
  int64_t offsetOf(const FunctionMemory &function, mlir::Value value) const;

  /// How many operations were read so far, counting one again when it was read again.
  int64_t getReads() const;
  /// What all plans so far have taken; see FunctionMemory::getEffort.
  int64_t getEffort() const;

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  /// The layout of what functions keep, those that run aside or the others.
  struct Region {
    ArenaLayout layout;
    llvm::DenseMap<const FunctionMemory *, size_t> first; ///< of a function's temporaries
  };
  Region layOutRegion(bool ofAside) const;
  Region layOutMovedAway() const;
  /// Where values that are moved to a space begin in its arena.
  int64_t getMovedOffset(MemorySpace space) const;

  using Change = void (FunctionMemory::*)(mlir::Operation *op);
  /// Tells the function of a change of an operation inside of `parent`.
  void notify(mlir::Operation *parent, mlir::Operation *op, Change change);
  mlir::LogicalResult update();
  mlir::LogicalResult updateModule();
  void updateLayout();
  MemoryPlan summarize(bool isAllocated) const;
  int64_t findFloor() const;
  void addPeak(MemoryPlan &plan, int64_t &workspace) const;

  mlir::ModuleOp module;
  const int64_t redzone;
  bool isModuleStale = true; ///< target, functions, variables, arguments
  bool isLayoutStale = true;
  mlir::Attribute target;
  VariableLayout variables;
  MemoryPlan::Categories variableCategories;
  ArgumentLayout arguments;
  int64_t fixed = 0, staging = 0, slots = 0;
  llvm::MapVector<mlir::Operation *, std::unique_ptr<FunctionMemory>> functions;
  Region common, aside, movedAway;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYANALYSIS_H

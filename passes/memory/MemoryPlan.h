//===- MemoryPlan.h - Where all that a program holds would lie --------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYPLAN_H
#define MTC_PASSES_MEMORY_MEMORYPLAN_H

#include "passes/memory/ArenaLayout.h"
#include "passes/memory/ArgumentLayout.h"
#include "passes/memory/BufferAssignment.h"
#include "passes/memory/Schedule.h"
#include "passes/memory/VariableLayout.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace mtc {

/// The memory that the functions of a module take when they run one after another: an order of
/// their operations, lifetimes, which values share a buffer, and each buffer's offset in the arena.
/// The module is only read, so that a pass may ask what a change would be worth.
///
/// The arena holds the variables, then the inputs, then a slice for the next batch's inputs
/// (staging), then what the functions keep while they run. Functions that write transient variables
/// have an arena of a size of their own, so that what only they keep is not part of the others'.
class MemoryPlan {
public:
  /// Fails with a diagnostic where no order or layout is possible.
  static mlir::FailureOr<MemoryPlan> compute(mlir::ModuleOp module);

  /// A function's part of the plan.
  struct FunctionPlan {
    mlir::func::FuncOp function;
    Schedule schedule;
    BufferAssignment buffers;
    int64_t firstTime; ///< of its operations, in the program's
    bool isAside;      ///< whether it writes transient variables
  };
  llvm::ArrayRef<std::unique_ptr<FunctionPlan>> getFunctions() const { return functions; }

  /// Bytes of the arena, and of that of the functions that write transient variables.
  int64_t getSize() const { return fixed + common.layout.size; }
  int64_t getAsideSize() const { return fixed + aside.layout.size; }
  /// The most that is alive at once: no layout needs less.
  int64_t getLiveBytes() const { return fixed + common.layout.liveBytes; }
  /// Bytes of the inputs, staging included, and of staging alone: the distance from an input to the
  /// slice of the next batch's.
  int64_t getDataBytes() const { return fixed - variables.size; }
  int64_t getStagingBytes() const { return staging; }
  /// The operation that runs when most is alive, null if nothing is, and the bytes of its scratch.
  mlir::Operation *getPeak() const { return peak; }
  int64_t getScratchBytesAtPeak() const { return scratchAtPeak; }

  const VariableLayout &getVariables() const { return variables; }
  int64_t offsetOf(const FunctionPlan &function, Buffer buffer) const;
  int64_t offsetOf(const FunctionPlan &function, mlir::Value value) const;

private:
  explicit MemoryPlan(VariableLayout variables) : variables(std::move(variables)) {}

  struct Region {
    llvm::SmallVector<LiveBuffer> temporaries;
    ArenaLayout layout;
  };
  void findPeak();

  VariableLayout variables;
  int64_t fixed = 0, staging = 0, scratchAtPeak = 0;
  Region common, aside;
  std::vector<std::unique_ptr<FunctionPlan>> functions;
  mlir::Operation *peak = nullptr;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYPLAN_H

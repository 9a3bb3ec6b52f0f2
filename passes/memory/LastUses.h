//===- LastUses.h - Last uses of the values of a step -----------------------------------------===//

#ifndef MTC_PASSES_MEMORY_LASTUSES_H
#define MTC_PASSES_MEMORY_LASTUSES_H

#include "passes/memory/FunctionMemory.h"
#include "passes/memory/VariableLayout.h"

namespace mtc {

/// Translates the live ranges of a function's schedule, whose positions are planned operations, to
/// the operations of a step: a planned operation is emitted as any number of them.
class LastUses {
public:
  /// Returns the slice in which a value of the function is stored. Must outlive the object.
  using SliceOf = llvm::function_ref<AtAttr(mlir::Value)>;

  LastUses(const FunctionMemory &function, const VariableLayout &variables, SliceOf sliceOf);

  /// Sets the last uses of the operations of `body` from number `first` on. `counts` is the number
  /// of operations in the body after each operation of the schedule has been emitted.
  void write(mlir::Block &body, mlir::ArrayRef<int64_t> counts, int64_t first) const;

private:
  size_t resultOf(const PlannedOperation &planned, mlir::Operation *op, size_t i) const;
  int64_t lastUseOf(const PlannedValue &value) const;
  int64_t lastUseOf(const PlannedOperation &planned, size_t result, int64_t user,
                    mlir::ArrayRef<int64_t> counts) const;
  Buffer bufferOf(mlir::FlatSymbolRefAttr symbol) const;

  const FunctionMemory &function;
  const VariableLayout &variables;
  SliceOf sliceOf;
  /// Assemble operations of the function, by the temporary of their result.
  llvm::DenseMap<unsigned, mlir::SmallVector<const PlannedOperation *, 1>> assembled;
  /// Buffers of the function's transient variables, by temporary.
  llvm::DenseMap<unsigned, mlir::SmallVector<Buffer, 1>> transients;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_LASTUSES_H

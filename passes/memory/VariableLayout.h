//===- VariableLayout.h - Slices of what outlives a step --------------------------------------===//

#ifndef MTC_PASSES_MEMORY_VARIABLELAYOUT_H
#define MTC_PASSES_MEMORY_VARIABLELAYOUT_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Where the variables of a module lie: bytes from the start of the arena, by symbol. Transient
/// ones lie nowhere.
struct VariableLayout {
  llvm::StringMap<int64_t> offsets;
  int64_t size = 0; ///< bytes that all take together

  /// Each variable is padded to the arena's alignment; those that are read as one flat tensor
  /// follow each other in that order. Fails with a diagnostic if two flat tensors contradict.
  static mlir::FailureOr<VariableLayout> compute(mlir::ModuleOp module);
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_VARIABLELAYOUT_H

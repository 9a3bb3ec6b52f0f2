//===- VariableLayout.h - Places of what outlives a step --------------------------------------===//

#ifndef MTC_PASSES_MEMORY_VARIABLELAYOUT_H
#define MTC_PASSES_MEMORY_VARIABLELAYOUT_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Gives each variable of a module an offset from the start of the arena (its `at`), each padded to
/// the arena's alignment; variables that are read as one flat tensor follow each other in that
/// order. Returns the bytes that they take together; fails with a diagnostic if two flat tensors
/// contradict.
mlir::FailureOr<int64_t> layOutVariables(mlir::ModuleOp module);

/// Replaces each constant that is data (no splat) by a variable that holds it; equal ones share it.
void moveConstantsToVariables(mlir::ModuleOp module);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_VARIABLELAYOUT_H

//===- ParallelParts.h - Parallel work on modules of one context ------------------------------===//

#ifndef MTC_PASSES_PLANNING_PARALLELPARTS_H
#define MTC_PASSES_PLANNING_PARALLELPARTS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace mtc {

/// Calls `run` with the indices less than `count` on several threads. Moves the messages of each
/// call to `messagesOf` its index.
void runInParallel(mlir::MLIRContext &context, size_t count,
                   llvm::function_ref<std::vector<mlir::Diagnostic> &(size_t)> messagesOf,
                   llvm::function_ref<void(size_t)> run);

/// Applies an action to each part on several threads. Moves the messages of each part to the part.
template <typename Part>
void forEachInParallel(mlir::MLIRContext &context, std::vector<Part> &parts,
                       llvm::function_ref<void(Part &)> action) {
  runInParallel(
      context, parts.size(), [&](size_t i) -> auto & { return parts[i].messages; },
      [&](size_t i) { action(parts[i]); });
}

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PARALLELPARTS_H

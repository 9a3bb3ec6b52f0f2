//===- KernelOutliner.h - Deduplicates kernels into functions ---------------------------------===//

#ifndef MTC_PASSES_MEMORY_KERNELOUTLINER_H
#define MTC_PASSES_MEMORY_KERNELOUTLINER_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Outlines kernels into `mtc.kernel_function`s at the start of a module and deduplicates
/// structurally equal ones.
class KernelOutliner {
public:
  explicit KernelOutliner(mlir::ModuleOp module) : module(module) {}

  /// Returns the kernel function for `kernel`, compiled by `plan` (may be null). Reuses the
  /// function of an equal kernel, or moves the kernel's body into a new function.
  KernelFunctionOp outline(KernelOp kernel, KernelPlanAttrInterface plan);

private:
  mlir::ModuleOp module;
  llvm::StringMap<KernelFunctionOp> functions; // By the structure of the kernel.
  KernelFunctionOp last; // Insertion point: the next function is inserted after this one.
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_KERNELOUTLINER_H

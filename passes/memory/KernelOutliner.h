//===- KernelOutliner.h - Equal kernels become one function -----------------------------------===//

#ifndef MTC_PASSES_MEMORY_KERNELOUTLINER_H
#define MTC_PASSES_MEMORY_KERNELOUTLINER_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Collects kernels as `mtc.kernel_function`s at the start of a module.
class KernelOutliner {
public:
  explicit KernelOutliner(mlir::ModuleOp module) : module(module) {}

  /// The function that computes this kernel by a plan (null: none); a new one if none has the same
  /// text. Takes the body.
  KernelFunctionOp outline(KernelOp kernel, KernelPlanAttrInterface plan);

private:
  mlir::ModuleOp module;
  llvm::StringMap<KernelFunctionOp> functions; // By text, without name and locations.
  KernelFunctionOp last;                       // Where the next one goes behind.
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_KERNELOUTLINER_H

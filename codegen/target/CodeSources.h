//===- CodeSources.h - Kernels and calls to generate code for ---------------------------------===//

#ifndef MTC_CODEGEN_TARGET_CODESOURCES_H
#define MTC_CODEGEN_TARGET_CODESOURCES_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace mtc {

/// The kernels of a program, and the distinct library calls in it.
struct CodeSources {
  mlir::MLIRContext *context;
  llvm::SmallVector<KernelFunctionOp> kernels;
  llvm::SmallVector<CallAttrInterface> calls;
  /// A function that any thread calls after each compilation, with the number of sources that are
  /// compiled or were in the cache, and the number of all sources.
  std::function<void(size_t done, size_t all)> notify = {};

  static CodeSources of(mlir::ModuleOp placed);
};

/// Assigns the target's plan to kernels without a plan. Fails with a diagnostic at a kernel whose
/// plan cannot be used: a plan of another target, or one that does not match the kernel.
mlir::LogicalResult planKernels(llvm::ArrayRef<KernelFunctionOp> kernels,
                                TargetAttrInterface target);

/// Checks that each launch has the scratch memory that the plan of its kernel needs. Calls check
/// theirs when the program starts, since their libraries depend on the machine.
mlir::LogicalResult checkScratch(mlir::ModuleOp placed);

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_CODESOURCES_H

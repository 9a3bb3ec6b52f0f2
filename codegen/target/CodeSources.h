//===- CodeSources.h - What of a program code is generated for --------------------------------===//

#ifndef MTC_CODEGEN_TARGET_CODESOURCES_H
#define MTC_CODEGEN_TARGET_CODESOURCES_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mtc {

/// A program's kernels, and the library calls that it makes, each once.
struct CodeSources {
  mlir::MLIRContext *context;
  llvm::SmallVector<KernelFunctionOp> kernels;
  llvm::SmallVector<CallAttrInterface> calls;

  static CodeSources of(mlir::ModuleOp placed);
};

/// Kernels without a plan get the target's. Fails with a diagnostic at a kernel whose plan code
/// cannot be written by: one of another target, or not of this kernel.
mlir::LogicalResult planKernels(llvm::ArrayRef<KernelFunctionOp> kernels,
                                TargetAttrInterface target);

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_CODESOURCES_H

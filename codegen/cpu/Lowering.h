//===- Lowering.h - From emitted kernels to LLVM IR -------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_LOWERING_H
#define MTC_CODEGEN_CPU_LOWERING_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mtc::cpu {

/// A new module with a module for each kernel, in their order, which later stages treat in
/// parallel. Kernels have plans of this target.
mlir::OwningOpRef<mlir::ModuleOp> emitKernels(mlir::MLIRContext *context,
                                              llvm::ArrayRef<KernelFunctionOp> kernels);

/// Takes a module of emitted kernels to the `llvm` dialect. `expandBFloat16` where the processor
/// has no conversions of bf16.
void addLowering(mlir::OpPassManager &pm, bool expandBFloat16);

/// Lowers the modules of `emitKernels`.
mlir::LogicalResult lowerKernels(mlir::ModuleOp kernels, bool expandBFloat16);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LOWERING_H

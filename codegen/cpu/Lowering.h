//===- Lowering.h - From emitted kernels to LLVM IR -------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_LOWERING_H
#define MTC_CODEGEN_CPU_LOWERING_H

#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mtc::cpu {

/// A new module with a module for each kernel, in their order, which later stages treat in
/// parallel. Kernels have plans of this target. `permutesTables` as `emitKernel` has it.
mlir::OwningOpRef<mlir::ModuleOp> emitKernels(mlir::MLIRContext *context,
                                              llvm::ArrayRef<KernelFunctionOp> kernels,
                                              bool permutesTables);

/// The conversions of 16-bit floats that a processor has no instructions for.
struct ExpandedConversions {
  bool bfloat16, float16;
};

/// Takes a module of emitted kernels to the `llvm` dialect.
void addLowering(mlir::OpPassManager &pm, const ExpandedConversions &expanded);

/// Lowers the modules of `emitKernels`.
mlir::LogicalResult lowerKernels(mlir::ModuleOp kernels, const ExpandedConversions &expanded);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LOWERING_H

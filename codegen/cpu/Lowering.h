//===- Lowering.h - Lowering of emitted kernels to the LLVM dialect ---------------------------===//

#ifndef MTC_CODEGEN_CPU_LOWERING_H
#define MTC_CODEGEN_CPU_LOWERING_H

#include "codegen/cpu/TableLookup.h"
#include "ir/Mtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mtc::cpu {

/// Returns a module with a nested module for each kernel, in order, so that later stages can
/// process the kernels in parallel. All kernels must have plans of this target. See `emitKernel`
/// for `permutations`.
mlir::OwningOpRef<mlir::ModuleOp> emitKernels(mlir::MLIRContext *context,
                                              llvm::ArrayRef<KernelFunctionOp> kernels,
                                              TablePermutations permutations);

/// The 16-bit float conversions that the processor has no instructions for.
struct ExpandedConversions {
  bool bfloat16, float16;
};

/// Adds the passes that lower a module of emitted kernels to the `llvm` dialect.
void addLowering(mlir::OpPassManager &pm, const ExpandedConversions &expanded);

/// Lowers the modules of `emitKernels`.
mlir::LogicalResult lowerKernels(mlir::ModuleOp kernels, const ExpandedConversions &expanded);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LOWERING_H

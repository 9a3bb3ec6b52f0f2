//===- KernelEmitter.h - Kernels as launches of a device --------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_KERNELEMITTER_H
#define MTC_CODEGEN_CUDA_KERNELEMITTER_H

#include "codegen/cuda/LaunchPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mtc::cuda {

/// Emits the kernel of this name at the end of `module` as a `gpu.module` with one `gpu.func`
/// for each launch of the plan, to be run one after another. Their parameters are pointers to
/// global memory: the inputs, the outputs, scratch if the plan needs some, and the MtcFault if the
/// kernel may raise one. All of them are aligned to 16 bytes.
///
/// An output may share its place with an input that is read only at the point being written.
mlir::gpu::GPUModuleOp emitKernel(const NormalKernel &kernel, const LaunchPlan &plan,
                                  llvm::StringRef name, mlir::ModuleOp module);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_KERNELEMITTER_H

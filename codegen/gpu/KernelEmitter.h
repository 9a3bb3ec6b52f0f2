//===- KernelEmitter.h - Lowering of kernels to GPU launches ----------------------------------===//

#ifndef MTC_CODEGEN_GPU_KERNELEMITTER_H
#define MTC_CODEGEN_GPU_KERNELEMITTER_H

#include "codegen/gpu/Hardware.h"
#include "codegen/gpu/LaunchPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mtc::gpu {

/// Emits a kernel at the end of `module`: a `gpu.module` of the given name with one `gpu.func` for
/// each launch of the plan; the launches run in order. Parameters are pointers to global memory,
/// aligned to 16 bytes: the inputs, the outputs, the scratch buffer if the plan needs one, and the
/// MtcFault if the kernel can raise a fault.
///
/// An output may alias an input if each element of the input is read only by the iteration that
/// overwrites it.
mlir::gpu::GPUModuleOp emitKernel(const NormalKernel &kernel, const LaunchPlan &plan,
                                  const Hardware &hardware, llvm::StringRef name,
                                  mlir::ModuleOp module);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_KERNELEMITTER_H

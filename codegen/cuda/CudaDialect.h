//===- CudaDialect.h - The cuda target attribute ----------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDADIALECT_H
#define MTC_CODEGEN_CUDA_CUDADIALECT_H

#include "codegen/gpu/LaunchPlan.h"

#include "llvm/Support/Error.h"

#include "codegen/cuda/CudaDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cuda/CudaAttributes.h.inc"

namespace mtc::cuda {

/// Returns the plan of a kernel, which must be a plan of this target.
inline const gpu::LaunchPlan &planOf(KernelFunctionOp kernel) {
  return llvm::cast<LaunchesAttr>(*kernel.getPlan()).getPlan();
}

/// Fails if the comma-separated list of excluded libraries contains one that programs require
/// because no alternative implementation of its calls exists.
llvm::Error checkWithout(llvm::StringRef libraries);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDADIALECT_H

//===- CudaDialect.h - The target `cuda` as an attribute --------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDADIALECT_H
#define MTC_CODEGEN_CUDA_CUDADIALECT_H

#include "codegen/cuda/LaunchPlan.h"

#include "llvm/Support/Error.h"

#include "codegen/cuda/CudaDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cuda/CudaAttributes.h.inc"

namespace mtc::cuda {

/// The plan that a kernel carries, one of this target.
inline const LaunchPlan &planOf(KernelFunctionOp kernel) {
  return llvm::cast<LaunchesAttr>(*kernel.getPlan()).getPlan();
}

/// Fails where one of the libraries, with commas between them, is one that programs need: they have
/// no other way to compute its calls.
llvm::Error checkWithout(llvm::StringRef libraries);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUDADIALECT_H

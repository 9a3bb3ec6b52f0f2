//===- LowerKernelsToCuda.cpp - Lowers kernels to GPU launches --------------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/cuda/CudaDialect.h"
#include "codegen/cuda/Hardware.h"
#include "codegen/gpu/KernelEmitter.h"
#include "codegen/target/CodeSources.h"

namespace mtc {
#define GEN_PASS_DEF_LOWERKERNELSTOCUDA
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

struct LowerKernelsToCuda : mtc::impl::LowerKernelsToCudaBase<LowerKernelsToCuda> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = llvm::to_vector(module.getOps<mtc::KernelFunctionOp>());
    auto target = mtc::cuda::TargetAttr::get(&getContext(), "sm_80", mtc::Precision::F32,
                                             /*emulated=*/false, "", /*threads=*/1, "host", "", "");
    if (failed(mtc::planKernels(kernels, target)))
      return signalPassFailure();
    for (mtc::KernelFunctionOp function : kernels)
      mtc::gpu::emitKernel(mtc::normalizeKernel(function), mtc::cuda::planOf(function),
                           mtc::cuda::hardware, function.getSymName(), module);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (!isa<mlir::gpu::GPUModuleOp>(op))
        op.erase();
  }
};

} // namespace

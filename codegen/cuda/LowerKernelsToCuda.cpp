//===- LowerKernelsToCuda.cpp - Writes kernels as launches of a device ------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/cuda/KernelEmitter.h"
#include "codegen/program/ProgramTables.h"

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
    for (mtc::KernelFunctionOp function : kernels) {
      mtc::NormalKernel kernel = mtc::normalizeKernel(function);
      mtc::cuda::LaunchPlan plan = mtc::cuda::planLaunches(kernel, function.getSymName());
      mtc::cuda::emitKernel(kernel, plan, mtc::kernelSymbol(function.getSymName()), module);
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (!isa<gpu::GPUModuleOp>(op))
        op.erase();
  }
};

} // namespace

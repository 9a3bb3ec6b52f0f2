//===- LowerKernelsToCpu.cpp - Writes kernels as functions of loops over vectors --------------===//

#include "codegen/Passes.h"

#include "codegen/cpu/Lowering.h"

namespace mtc {
#define GEN_PASS_DEF_LOWERKERNELSTOCPU
#include "codegen/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

struct LowerKernelsToCpu : mtc::impl::LowerKernelsToCpuBase<LowerKernelsToCpu> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> kernels = mtc::cpu::emitKernels(module, 1);
    module.getBody()->clear();
    for (ModuleOp shard : kernels->getOps<ModuleOp>())
      module.getBody()->getOperations().splice(module.getBody()->end(),
                                               shard.getBody()->getOperations());
  }
};

} // namespace

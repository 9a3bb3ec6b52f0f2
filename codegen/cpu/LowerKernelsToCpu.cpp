//===- LowerKernelsToCpu.cpp - Lowers kernels to loops over vectors ---------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/cpu/CpuDialect.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/target/CodeSources.h"

namespace mtc {
#define GEN_PASS_DEF_LOWERKERNELSTOCPU
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

struct LowerKernelsToCpu : mtc::impl::LowerKernelsToCpuBase<LowerKernelsToCpu> {
  using LowerKernelsToCpuBase::LowerKernelsToCpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = llvm::to_vector(module.getOps<mtc::KernelFunctionOp>());
    if (failed(mtc::planKernels(kernels,
                                mtc::cpu::TargetAttr::get(&getContext(), mtc::Precision::F32,
                                                          /*threads=*/1, "host", "",
                                                          /*rates=*/"", /*without=*/"",
                                                          /*is_static=*/false, /*tune=*/"off"))))
      return signalPassFailure();
    using mtc::cpu::TablePermutations;
    TablePermutations permutations = permutesBytes    ? TablePermutations::Bytes
                                     : permutesTables ? TablePermutations::Words
                                                      : TablePermutations::None;
    OwningOpRef<ModuleOp> emitted = mtc::cpu::emitKernels(&getContext(), kernels, permutations);
    module.getBody()->clear();
    for (ModuleOp kernel : emitted->getOps<ModuleOp>())
      module.getBody()->getOperations().splice(module.getBody()->end(),
                                               kernel.getBody()->getOperations());
  }
};

} // namespace

//===- CodeSources.cpp - Kernels and calls to generate code for -------------------------------===//

#include "codegen/target/CodeSources.h"

#include "ir/interfaces/KernelPlans.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

CodeSources CodeSources::of(ModuleOp placed) {
  CodeSources sources{placed.getContext(), {}, {}};
  llvm::append_range(sources.kernels, placed.getOps<KernelFunctionOp>());
  llvm::SetVector<CallAttrInterface> calls;
  placed.walk([&](CallOp op) { calls.insert(op.getCall()); });
  sources.calls = calls.takeVector();
  return sources;
}

LogicalResult mtc::planKernels(ArrayRef<KernelFunctionOp> kernels, TargetAttrInterface target) {
  for (KernelFunctionOp kernel : kernels) {
    TargetAttrInterface own = kernel.getOnHost() ? target.getHostTarget() : target;
    if (!own)
      return kernel.emitOpError("runs on the host, but the target has no other device");
    if (kernel.getOnHost() && !kernel.getBody().getOps<KernelCheckOp>().empty())
      return kernel.emitOpError("runs on the host, where it cannot report invalid indices");
    KernelPlanAttrInterface plan = kernel.getPlanAttr();
    if (!plan) {
      kernel.setPlanAttr(own.planKernel(kernel));
      continue;
    }
    std::string reason = &plan.getDialect() == &own.getDialect() ? plan.refuse(kernel)
                                                                 : "it belongs to another target";
    if (!reason.empty())
      return kernel.emitOpError("has the plan ")
             << plan << ", but " << reason << "; remove it to use the target's plan";
  }
  return success();
}

LogicalResult mtc::checkScratch(ModuleOp placed) {
  SymbolTable symbols(placed);
  auto check = [&](LaunchOp launch) -> WalkResult {
    auto kernel = symbols.lookup<KernelFunctionOp>(launch.getKernel());
    const int64_t needed = kernel.getPlanAttr().getScratchBytes();
    if (static_cast<int64_t>(launch.getScratchBytes()) >= needed)
      return success();
    return launch.emitOpError("has ")
           << launch.getScratchBytes() << " bytes of scratch memory, but the plan of "
           << launch.getKernelAttr() << " needs " << needed;
  };
  return failure(placed.walk(check).wasInterrupted());
}

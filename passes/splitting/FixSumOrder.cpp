//===- FixSumOrder.cpp - Order of sums that layouts must not change ---------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

namespace mtc {
#define GEN_PASS_DEF_FIXSUMORDER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct FixSumOrderPass : public mtc::impl::FixSumOrderBase<FixSumOrderPass> {
  void runOnOperation() override {
    if (!keepsSumOrder(getOperation()))
      return;
    const TargetInfo target = TargetInfo::of(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto kernel = dyn_cast<KernelOp>(op))
        fixKernel(kernel);
      else if (auto call = dyn_cast<LibraryCallOpInterface>(op))
        fixCall(call, target);
    });
  }

  static void fixKernel(KernelOp kernel) {
    if (!kernel.getReduced().empty() || yieldOf(kernel).scatters())
      kernel->setAttr(fixedOrderAttribute, UnitAttr::get(kernel.getContext()));
  }

  /// The order of a library depends on the extents of a contraction, while own panels add terms in
  /// order. Convolutions have the same shapes with any number of ranks.
  static void fixCall(LibraryCallOpInterface call, const TargetInfo &target) {
    constexpr CallAlgorithm panels = CallAlgorithm::OwnPanels;
    call->removeAttr(algorithmAttribute); // A measurement may differ in each compilation.
    if (!isa<ContractOp, FusedContractOp>(*call) || !call.isLibraryCall() ||
        !target.supportsAlgorithm(call, panels))
      return;
    call->setAttr(algorithmAttribute, CallAlgorithmAttr::get(call.getContext(), panels, {}));
    call->setAttr(fixedOrderAttribute, UnitAttr::get(call.getContext()));
  }
};

} // namespace

//===- FixSumOrder.cpp - Order of sums that layouts must not change ---------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_FIXSUMORDER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct FixSumOrderPass : public mtc::impl::FixSumOrderBase<FixSumOrderPass> {
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    RanksAttr ranks = program ? program.getRanksAttr() : RanksAttr();
    if (!ranks || (ranks.getTensorChunks() == 1 && ranks.getContextParts() == 1))
      return;
    getOperation().walk([](KernelOp kernel) {
      if (kernel.getReduced().size() > 1)
        kernel->setAttr(fixedOrderAttribute, UnitAttr::get(kernel.getContext()));
    });
  }
};

} // namespace

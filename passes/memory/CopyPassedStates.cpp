//===- CopyPassedStates.cpp - Copies of states that scans pass on -----------------------------===//

#include "ir/ScanBody.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

namespace mtc {
#define GEN_PASS_DEF_COPYPASSEDSTATES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class CopyPassedStatesPass : public mtc::impl::CopyPassedStatesBase<CopyPassedStatesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<ScanBody> body = ScanBody::of(function);
    if (!body)
      return;
    Operation *terminator = function.front().getTerminator();
    OpBuilder builder(terminator);
    for (OpOperand &result : terminator->getOpOperands().take_front(body->states)) {
      auto state = dyn_cast<BlockArgument>(rootOf(result.get()));
      if (state && body->isState(state.getArgNumber()) &&
          state.getArgNumber() != result.getOperandNumber())
        result.set(MoveOp::create(builder, terminator->getLoc(), result.get().getType(),
                                  result.get(), MemorySpace::Device));
    }
  }
};

} // namespace

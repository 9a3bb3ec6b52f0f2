//===- FindIndexRanges.cpp - Annotates valid ranges of index inputs ---------------------------===//

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_FINDINDEXRANGES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Returns the argument that a value is a view or cast of, or null if the value is computed.
static BlockArgument findArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<mtc::View>() && !isa<CastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

namespace {

struct FindIndexRangesPass : mtc::impl::FindIndexRangesBase<FindIndexRangesPass> {
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    if (!program)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isMicroStep(function.getSymName()))
        function.walk([&](GatherOp op) {
          if (BlockArgument argument = findArgument(op.getIndices()))
            narrow(program.findOrAddInput(argumentName(function, argument.getArgNumber())), op);
        });
  }

private:
  /// Negative indices count from the end.
  static void narrow(InputOp input, GatherOp op) {
    int64_t extent = op.getInput().getType().getDimSize(op.getAxis());
    IndexRangeAttr known = input.getIndicesAttr();
    if (extent > 0 && (!known || known.getLimit() > extent))
      input.setIndicesAttr(
          IndexRangeAttr::get(op.getContext(), -extent, extent, -extent, nodeNames(op.getLoc())));
  }
};

} // namespace

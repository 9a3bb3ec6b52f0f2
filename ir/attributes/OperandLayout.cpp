//===- OperandLayout.cpp - Memory layout of library call operands -----------------------------===//

#include "ir/attributes/OperandLayout.h"

using namespace mlir;
using namespace mtc;

int64_t mtc::offsetInBuffer(Value value) {
  int64_t bytes = elementBytes(getElementTypeOrSelf(value)), offset = 0;
  for (Operation *op = value.getDefiningOp(); op && op->hasTrait<mtc::View>();
       op = op->getOperand(0).getDefiningOp())
    if (auto movement = dyn_cast<StridedMovementOpInterface>(op))
      offset += movement.getLayout().offset * bytes;
  return offset;
}

bool mtc::takesOperandLayouts(LibraryCallOpInterface call) {
  return llvm::all_of(call->getOpOperands(), [&](OpOperand &operand) {
    return call.takesLayout(operand.getOperandNumber(), stridesOf(operand.get()));
  });
}

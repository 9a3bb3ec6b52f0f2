//===- MovedUses.cpp - Redirects users of a value to its copy ---------------------------------===//

#include "passes/offload/MovedUses.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;

/// Returns the view of the moved value that corresponds to the view `value` of the original.
static Value viewMoved(OpBuilder &builder, EditLog &edits, Value value, IRMapping &moved) {
  if (Value known = moved.lookupOrNull(value))
    return known;
  Operation *view = value.getDefiningOp();
  moved.map(view->getOperand(0), viewMoved(builder, edits, view->getOperand(0), moved));
  Value copy = edits.insert(builder.clone(*view, moved))->getResult(0);
  moved.map(value, copy);
  return copy;
}

void mtc::readMoved(EditLog &edits, ArrayRef<Operation *> users, Value value, Value moved) {
  IRMapping mapping;
  mapping.map(value, moved);
  OpBuilder builder(users.front());
  for (Operation *user : users)
    for (OpOperand &operand : user->getOpOperands())
      if (rootOf(operand.get()) == value)
        edits.setOperand(operand, viewMoved(builder, edits, operand.get(), mapping));
}

//===- NaturalOrder.h - The order of axes of row-major operands -------------------------------===//

#ifndef MTC_IR_OPS_NATURALORDER_H
#define MTC_IR_OPS_NATURALORDER_H

#include "ir/Mtc.h"

#include "llvm/ADT/Sequence.h"

namespace mtc {

/// Returns the axes of an operand in their order: `LibraryCallOpInterface::getDenseOrder` of a call
/// whose dense operands are row-major.
inline llvm::SmallVector<int64_t> naturalOrder(mlir::Operation *op, unsigned operand) {
  auto type = llvm::cast<mlir::RankedTensorType>(op->getOperand(operand).getType());
  return llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
}

} // namespace mtc

#endif // MTC_IR_OPS_NATURALORDER_H

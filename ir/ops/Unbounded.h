//===- Unbounded.h - Operations with poles ----------------------------------------------------===//

#ifndef MTC_IR_OPS_UNBOUNDED_H
#define MTC_IR_OPS_UNBOUNDED_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mtc {

/// Returns whether the result or a derivative of an elementwise operation may be infinite or NaN
/// although the operands are finite, as of a logarithm at 0.
bool isUnbounded(mlir::Operation *op);

} // namespace mtc

#endif // MTC_IR_OPS_UNBOUNDED_H

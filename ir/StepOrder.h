//===- StepOrder.h - What the operations of a placed step touch -------------------------------===//

#ifndef MTC_IR_STEPORDER_H
#define MTC_IR_STEPORDER_H

#include "ir/Mtc.h"

namespace mtc {

/// The slices that an operation of a step reads and writes, and the tokens that it waits for.
struct StepAccess {
  explicit StepAccess(mlir::Operation *op);

  /// Whether one of the two writes what the other reads or writes: they run in their order.
  bool conflictsWith(const StepAccess &other) const;

  /// Scratch is a slice of bytes that is written; those of a call span all that it touches.
  mlir::SmallVector<AtAttr, 4> reads, writes;
  mlir::ValueRange dependencies;
};

} // namespace mtc

#endif // MTC_IR_STEPORDER_H

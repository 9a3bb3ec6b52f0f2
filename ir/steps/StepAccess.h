//===- StepAccess.h - What an operation of a placed step reads and writes ---------------------===//

#ifndef MTC_IR_STEPS_STEPACCESS_H
#define MTC_IR_STEPS_STEPACCESS_H

#include "ir/Mtc.h"

namespace mtc {

/// The slices that an operation of a step touches, and the tokens that it waits for.
struct StepAccess {
  explicit StepAccess(mlir::Operation *op);

  /// All bytes from the first to the last that the operation writes of each result, then the
  /// scratch if there is any.
  mlir::SmallVector<AtAttr> getWrites() const;
  /// Whether one of the two writes what the other reads or writes: they run in their order.
  bool conflictsWith(const StepAccess &other) const;

  mlir::SmallVector<AtAttr> reads;   ///< all from the first byte to the last
  mlir::SmallVector<AtAttr> results; ///< as large as their values, which may lie with strides
  AtAttr scratch;                    ///< as a slice of bytes; null without scratch
  /// Of each result, the number of the operation that reads it last: see `mtc.step`. Empty where
  /// the operation does not say.
  mlir::ArrayRef<int64_t> lastUses;
  mlir::ValueRange dependencies;

private:
  mlir::SmallVector<AtAttr> written; ///< of each result, from its first byte to its last
};

/// How many operations stand before one in its block.
int64_t getNumberInBlock(mlir::Operation *op);

/// Says of each result of an operation of a step how long it lives.
void setLastUses(mlir::Operation *op, mlir::ArrayRef<int64_t> lastUses);

/// Fails with a diagnostic where what lives at the same time overlaps, or what is read does not
/// live: step_c4 and step_c5. Says nothing of a step with an operation that has no last uses.
mlir::LogicalResult verifyLifetimes(StepOp step);

} // namespace mtc

#endif // MTC_IR_STEPS_STEPACCESS_H

//===- StepAccess.h - Memory accesses of operations in a step ---------------------------------===//

#ifndef MTC_IR_STEPS_STEPACCESS_H
#define MTC_IR_STEPS_STEPACCESS_H

#include "ir/Mtc.h"

namespace mtc {

/// The slices that an operation of an `mtc.step` accesses, and the tokens that it waits for.
struct StepAccess {
  explicit StepAccess(mlir::Operation *op);

  /// Returns the range from the first to the last byte of each result that the operation writes,
  /// followed by the scratch memory if there is any.
  mlir::SmallVector<AtAttr> getWrites() const;
  mlir::SmallVector<AtAttr> reads;   ///< ranges from the first byte to the last
  mlir::SmallVector<AtAttr> results; ///< with the values' sizes; elements may be strided
  AtAttr scratch;                    ///< as a slice of bytes; null without scratch memory
  /// For each result, the number of the last operation that reads it: see `mtc.step`. Empty if the
  /// operation does not specify live ranges.
  mlir::ArrayRef<int64_t> lastUses;
  mlir::ValueRange dependencies;

private:
  mlir::SmallVector<AtAttr> written; ///< for each result, from its first byte to its last
};

/// A range of bytes in a memory space.
struct ByteRange {
  explicit ByteRange(AtAttr slice)
      : begin(slice.getOffset()), end(slice.getEnd()), space(slice.getSpace()) {}

  bool overlaps(const ByteRange &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }

  int64_t begin, end;
  MemorySpace space;
};

/// The ranges that an operation of an `mtc.step` accesses. Less memory than a StepAccess, and
/// faster to compare.
class AccessedRanges {
public:
  explicit AccessedRanges(const StepAccess &access);

  /// Returns whether one of the two operations writes memory that the other accesses, so that their
  /// order must be kept.
  bool conflictsWith(const AccessedRanges &other) const;

private:
  mlir::ArrayRef<ByteRange> getWrites() const { return mlir::ArrayRef(ranges).take_front(writes); }

  mlir::SmallVector<ByteRange, 2> ranges; ///< of writes, then of reads
  size_t writes;
};

/// An operation of a step that runs concurrently to the operations after it: a copy, a transfer, or
/// a kernel on the host.
struct AsyncWork {
  /// Returns nullopt for other operations.
  static std::optional<AsyncWork> of(mlir::Operation *op);

  int64_t stream;
  mlir::Value token;
};

/// Sets the end of the live range of each result of an operation of a step.
void setLastUses(mlir::Operation *op, mlir::ArrayRef<int64_t> lastUses);

/// Verifies repeat_c2: in all iterations, the slices that the body accesses are within the slices
/// and scratch memory of the repeat or within variables.
mlir::LogicalResult verifyRanges(RepeatOp repeat);

/// Verifies step_c4 and step_c5 in the body of a repeat.
mlir::LogicalResult verifyLifetimes(RepeatOp repeat);

/// Verifies step_c4 and step_c5: values that are live at the same time do not overlap, and values
/// are live when they are read. Accepts steps with an operation that does not specify live ranges.
mlir::LogicalResult verifyLifetimes(StepOp step);

} // namespace mtc

#endif // MTC_IR_STEPS_STEPACCESS_H

//===- CopyPlacement.h - Overlap of copies with computation -----------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_COPYPLACEMENT_H
#define MTC_PASSES_OFFLOAD_COPYPLACEMENT_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/OperationTimes.h"
#include "passes/memory/FunctionMemory.h"

namespace mtc {

/// Finds the operations of a function that run while a value is copied between memory spaces. The
/// device memory of the value is reserved for this time, so only operations with few live bytes are
/// suitable. Positions are those of the function's schedule.
class CopyPlacement {
public:
  CopyPlacement(const FunctionMemory &function, OperationTimes &times, const TargetInfo &target)
      : function(function), times(times), target(target), live(function.getLive()) {}

  /// Returns the position before which a fetch for the operation at `use` starts. It is after
  /// `after`, as late as possible for the fetch to end in time, and such that at most `limit` bytes
  /// are live until `use`.
  int64_t findStart(int64_t use, int64_t bytes, int64_t after, int64_t limit) const;
  /// Returns the last position at which the memory of a value is kept if its copy to another memory
  /// space starts after `time`. It is before `before`.
  int64_t findRelease(int64_t time, int64_t bytes, int64_t before, int64_t limit) const;

  /// Adds reserved bytes to the live bytes of a range of positions.
  void reserve(int64_t begin, int64_t end, int64_t bytes);

  /// Returns the operation at a position or, if variables are written there, the next other one.
  mlir::Operation *getOperation(int64_t time) const;

private:
  bool isWrite(int64_t time) const;

  const FunctionMemory &function;
  OperationTimes &times;
  const TargetInfo &target;
  mlir::SmallVector<int64_t, 0> live;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_COPYPLACEMENT_H

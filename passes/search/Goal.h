//===- Goal.h - What a function may need of memory --------------------------------------------===//

#ifndef MTC_PASSES_SEARCH_GOAL_H
#define MTC_PASSES_SEARCH_GOAL_H

#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"

namespace mtc {

/// A function, which may need `budget` bytes of the arena. All is said of the plan that was asked
/// for last.
struct Goal {
  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  int64_t budget;

  /// Bytes of the arena while the function runs.
  int64_t liveBytes() const {
    return analysis.getFixedBytes() + function.getLive()[function.getPeakTime()];
  }
  OrderScore score() const;
  /// Whether so many bytes are worth a change: those of a smaller part of the arena are not.
  bool isWorthwhile(int64_t bytes) const { return bytes * 4096 >= liveBytes(); }
  /// The first operation at which the most is alive.
  mlir::Operation *getPeakOperation() const {
    return function.getOrder()[function.getPeakTime()]->op;
  }
  /// Bytes by which the function, or else its placement, exceeds the budget now; 0 or less: it
  /// fits. What other functions need is their own affair. Fails with a diagnostic where there is no
  /// plan.
  mlir::FailureOr<int64_t> findExcess() const;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_GOAL_H

//===- Segments.h - Recomputation of segments between checkpoints -----------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_SEGMENTS_H
#define MTC_PASSES_RECOMPUTE_SEGMENTS_H

#include "passes/Listeners.h"
#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Checkpoints.h"
#include "passes/recompute/Rematerializer.h"
#include "passes/search/FunctionBudget.h"

namespace mtc {

/// Recomputes the segments of a function between its checkpoints.
class Segments {
public:
  Segments(const FunctionBudget &budget, OperationTimes &times);

  bool empty() const { return checkpoints.recomputed.empty(); }
  /// Fails with a diagnostic if there is no memory plan.
  mlir::LogicalResult recompute();
  void undo();
  size_t getCount() const { return count; }
  mlir::ArrayRef<Rematerializer::Added::Copy> getCopies() const { return copies; }
  /// Returns the added seconds.
  double getTime() const { return time; }

private:
  const FunctionBudget &budget;
  OperationTimes &times;
  Listeners listeners;
  Checkpoints checkpoints;
  std::unique_ptr<Rematerializer> values;
  mlir::SmallVector<Rematerializer::Added::Copy, 0> copies;
  size_t count = 0;
  double time = 0;
};

/// Emits a remark on the number of recomputed values of a function and the added time.
void reportRecomputed(const FunctionBudget &budget, OperationTimes &times, size_t count,
                      double time);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_SEGMENTS_H

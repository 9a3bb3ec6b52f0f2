//===- Segments.h - All but checkpoints is computed again -------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_SEGMENTS_H
#define MTC_PASSES_RECOMPUTE_SEGMENTS_H

#include "passes/Listeners.h"
#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Checkpoints.h"
#include "passes/recompute/Rematerializer.h"
#include "passes/search/Goal.h"

namespace mtc {

/// The segments of a function between its checkpoints, computed again.
class Segments {
public:
  Segments(const Goal &goal, OperationTimes &times);

  bool empty() const { return checkpoints.recomputed.empty(); }
  /// Fails with a diagnostic where there is no plan.
  mlir::LogicalResult recompute();
  void undo();
  size_t getCount() const { return count; }
  mlir::ArrayRef<Rematerializer::Added::Copy> getCopies() const { return copies; }
  /// Seconds that are added.
  double getTime() const { return time; }

private:
  const Goal &goal;
  OperationTimes &times;
  Listeners listeners;
  Checkpoints checkpoints;
  std::unique_ptr<Rematerializer> values;
  mlir::SmallVector<Rematerializer::Added::Copy, 0> copies;
  size_t count = 0;
  double time = 0;
};

/// Emits a remark on values of a function that are computed again for so many seconds more.
void reportRecomputed(const Goal &goal, OperationTimes &times, size_t count, double time);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_SEGMENTS_H

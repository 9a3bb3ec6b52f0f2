//===- Retention.h - What need not be computed again after all --------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RETENTION_H
#define MTC_PASSES_RECOMPUTE_RETENTION_H

#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Rematerializer.h"
#include "passes/search/Goal.h"

namespace mtc {

/// Knows what computes values of a function again. One change after the other makes more copies
/// than all of them together need: those are dropped in the end whose original may stay.
class Retention {
public:
  /// Tells `listener`, which knows `goal` and `times`, of each change.
  Retention(const Goal &goal, OperationTimes &times, mlir::RewriterBase::Listener &listener)
      : goal(goal), times(times), listener(listener) {}

  void add(mlir::ArrayRef<Rematerializer::Added::Copy> made) { llvm::append_range(copies, made); }
  /// Forgets what is no longer in the function. To be called before its memory is used again.
  void forgetErased();
  /// Lets readers of a copy read the original, the dearest first, as long as the function fits.
  /// Gives the seconds that are saved; fails with a diagnostic where there is no plan.
  mlir::FailureOr<double> dropSuperfluous();

private:
  class Drop;

  const Goal &goal;
  OperationTimes &times;
  mlir::RewriterBase::Listener &listener;
  mlir::SmallVector<Rematerializer::Added::Copy, 0> copies;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RETENTION_H

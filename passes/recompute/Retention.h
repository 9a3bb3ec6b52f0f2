//===- Retention.h - Removal of unnecessary recomputation -------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RETENTION_H
#define MTC_PASSES_RECOMPUTE_RETENTION_H

#include "passes/cost/OperationTimes.h"
#include "passes/recompute/CopyRemoval.h"
#include "passes/search/FunctionBudget.h"

namespace mtc {

/// Copies with equal times usually belong to equal layers. If this many of them are needed, the
/// others are assumed to be needed as well.
inline constexpr int maxNeeded = 3;

/// Tracks the recomputed copies in a function. A greedy sequence of changes makes more copies than
/// are finally needed; the superfluous ones are removed at the end by saving their originals.
class Retention {
public:
  /// Notifies `listener`, which must forward to `budget` and `times`, of each change.
  Retention(const FunctionBudget &budget, OperationTimes &times,
            mlir::RewriterBase::Listener &listener)
      : budget(budget), times(times), listener(listener) {}

  void add(mlir::ArrayRef<Rematerializer::Added::Copy> made) { llvm::append_range(copies, made); }
  /// Replaces the originals of copies that were removed, but not yet erased, by their own
  /// originals, and forgets the removed copies.
  void forgetRemoved();
  /// Removes erased copies from the list. Must be called before their memory is reused.
  void forgetErased();
  /// A copy and its time in seconds.
  using TimedCopy = std::pair<double, Rematerializer::Added::Copy>;
  /// Returns the copies, most expensive first, ties by age.
  mlir::SmallVector<TimedCopy, 0> getMostExpensiveFirst() const;
  /// Replaces known copies by their originals, in this order, as long as the function meets the
  /// budget. Tries at most `maxTries` of them, and keeps removed operations alive in `removals`,
  /// since undo actions may refer to them. Fails with a diagnostic if there is no memory plan.
  mlir::LogicalResult remove(mlir::ArrayRef<TimedCopy> known, size_t maxTries, Removals &removals);
  /// Tries to remove all copies, the most expensive ones first. Returns the saved seconds. Fails
  /// with a diagnostic if there is no memory plan.
  mlir::FailureOr<double> dropSuperfluous();

private:
  const FunctionBudget &budget;
  OperationTimes &times;
  mlir::RewriterBase::Listener &listener;
  mlir::SmallVector<Rematerializer::Added::Copy, 0> copies;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RETENTION_H

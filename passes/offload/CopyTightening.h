//===- CopyTightening.h - Reduction of peak memory by shorter reservations for copies ---------===//

#ifndef MTC_PASSES_OFFLOAD_COPYTIGHTENING_H
#define MTC_PASSES_OFFLOAD_COPYTIGHTENING_H

#include "passes/Listeners.h"
#include "passes/offload/CopyPlacement.h"
#include "passes/offload/EditLog.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

namespace mtc {

/// Frees device memory that is reserved at the peak of a function because a value is being copied
/// between memory spaces. It starts the copy to the device after the peak, or waits for the copy
/// from the device before the peak.
class CopyTightening final : public PeakReducer {
public:
  CopyTightening(const FunctionBudget &budget, OperationTimes &times)
      : budget(budget), times(times), target(TargetInfo::of(budget.function.getFunction())),
        listeners(budget.analysis, times), edits(listeners) {}

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override { refused.clear(); }
  void report() const override {}

private:
  /// Moves an operation, a hold or a copy to the device, before another one.
  struct Choice : Candidate {
    mlir::Operation *op, *place;
  };

  std::optional<Choice> shorten(const PlannedOperation &op, int64_t excess,
                                const CopyPlacement &placement) const;

  const FunctionBudget &budget;
  OperationTimes &times;
  TargetInfo target;
  Listeners listeners;
  EditLog edits;
  std::optional<Choice> candidate;
  llvm::DenseSet<mlir::Operation *> refused;
};

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_COPYTIGHTENING_H

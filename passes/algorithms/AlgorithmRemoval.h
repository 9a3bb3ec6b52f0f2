//===- AlgorithmRemoval.h - Reduction of peak memory by calls without packed operands ---------===//

#ifndef MTC_PASSES_ALGORITHMS_ALGORITHMREMOVAL_H
#define MTC_PASSES_ALGORITHMS_ALGORITHMREMOVAL_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/Listeners.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

#include "llvm/ADT/DenseSet.h"

namespace mtc {

/// Frees the scratch memory that a call at the peak of a function needs for the algorithm that
/// `mtc-choose-algorithms` has chosen: the call reads its operands as stored.
class AlgorithmRemoval final : public PeakReducer {
public:
  AlgorithmRemoval(const FunctionBudget &budget, OperationTimes &times)
      : budget(budget), times(times), target(TargetInfo::of(budget.function.getFunction())),
        listeners(budget.analysis, times) {}

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override { refused.clear(); }
  void report() const override;

private:
  int64_t scratchAsStored(LibraryCallOpInterface call) const;

  const FunctionBudget &budget;
  OperationTimes &times;
  TargetInfo target;
  Listeners listeners;
  LibraryCallOpInterface candidate;
  llvm::DenseSet<mlir::Operation *> refused;
  std::vector<mlir::Location> changed;
};

} // namespace mtc

#endif // MTC_PASSES_ALGORITHMS_ALGORITHMREMOVAL_H

//===- WayRemoval.h - Reduction of peak memory by calls without packed operands --------------===//

#ifndef MTC_PASSES_WAYS_WAYREMOVAL_H
#define MTC_PASSES_WAYS_WAYREMOVAL_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/Listeners.h"
#include "passes/search/Goal.h"
#include "passes/search/PeakReducer.h"

#include "llvm/ADT/DenseSet.h"

namespace mtc {

/// Frees the scratch memory that a call at the peak of a function needs for the way that
/// `mtc-choose-ways` has chosen: the call reads its operands as stored.
class WayRemoval final : public PeakReducer {
public:
  WayRemoval(const Goal &goal, OperationTimes &times)
      : goal(goal), times(times), target(TargetInfo::of(goal.function.getFunction())),
        listeners(goal.analysis, times) {}

  mlir::FailureOr<std::optional<Offer>> findOffer(int64_t excess) override;
  mlir::FailureOr<bool> take() override;
  void noticeChange() override { refused.clear(); }
  void report() const override;

private:
  int64_t scratchAsStored(LibraryCallOpInterface call) const;

  const Goal &goal;
  OperationTimes &times;
  TargetInfo target;
  Listeners listeners;
  LibraryCallOpInterface offered;
  llvm::DenseSet<mlir::Operation *> refused;
  std::vector<mlir::Location> changed;
};

} // namespace mtc

#endif // MTC_PASSES_WAYS_WAYREMOVAL_H

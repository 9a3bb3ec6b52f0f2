//===- ActivationOffload.h - Reduction of peak memory by offloading of activations ------------===//

#ifndef MTC_PASSES_OFFLOAD_ACTIVATIONOFFLOAD_H
#define MTC_PASSES_OFFLOAD_ACTIVATIONOFFLOAD_H

#include "passes/Listeners.h"
#include "passes/offload/CopyPlacement.h"
#include "passes/offload/EditLog.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"
#include "passes/search/TransferTimes.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// Moves values that are live at the peak of a function and not used there to another memory space
/// after their last use before the peak, and back to the device before their first use after it.
/// Equal values of equal layers are moved together, those with the longest gap between two uses
/// first.
class ActivationOffload final : public PeakReducer {
public:
  ActivationOffload(const FunctionBudget &budget, OperationTimes &times);

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override;
  void report() const override;

  size_t getCount() const { return count; }
  int64_t getBytes() const { return bytes; }

private:
  /// A value that is live at the peak but not used there. `begin` is its last use before the peak
  /// and `end` its first use after it, in positions of the function's schedule. The gap of a value
  /// that a micro-step saves for its backward part is around the end of the forward part instead,
  /// since its slots are occupied at every peak.
  struct Gap {
    mlir::Value value;
    int64_t bytes = 0, begin = 0, end = 0;
    int64_t middle = 0; ///< position of the peak, or of the end of the forward part
    int64_t freed = 0;  ///< bytes that are free at the peak without the value
    bool isSaved = false;
    size_t kind = 0;   ///< equal for corresponding values of equal layers
    size_t number = 0; ///< in schedule order
    bool isUsedAtPeak = false;

    /// Returns the benefit of offloading: bytes times duration.
    double worth() const { return static_cast<double>(freed) * static_cast<double>(end - begin); }
  };
  /// A gap with the time that offloading adds.
  struct Priced {
    Gap gap;
    double time;
  };

  using Gaps = llvm::MapVector<const PlannedValue *, Gap>;
  mlir::SmallVector<Gap, 0> findGaps() const;
  void addSaved(Gaps &gaps) const;
  std::optional<Priced> findCheapest(std::optional<size_t> kind) const;
  std::pair<int64_t, int64_t> placeCopies(const Gap &gap) const;
  double priceOf(const Gap &gap, const TransferTimes &before) const;
  bool move(const Gap &gap);
  TransferTimes simulate(mlir::ArrayRef<PlannedCopy> added) const;

  const FunctionBudget &budget;
  OperationTimes &times;
  TargetInfo target;
  Listeners listeners;
  EditLog edits;
  std::optional<Priced> candidate;
  llvm::DenseSet<mlir::Value> refused;
  int64_t needed = 0;
  size_t count = 0;
  int64_t bytes = 0;
};

/// Emits a remark on offloaded activations, if there are any.
void reportMoved(mlir::ModuleOp module, size_t count, int64_t bytes);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_ACTIVATIONOFFLOAD_H

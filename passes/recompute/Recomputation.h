//===- Recomputation.h - Reduction of peak memory by recomputation ----------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RECOMPUTATION_H
#define MTC_PASSES_RECOMPUTE_RECOMPUTATION_H

#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Retention.h"
#include "passes/recompute/Segments.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"

#include "mlir/IR/Remarks.h"

#include <map>

namespace mtc {

/// Recomputes values of a function that are live at the peak and used after it, in the order of
/// bytes freed per estimated time. Equal values of equal layers are recomputed together, those with
/// the longest live ranges first. The alternative start recomputes the segments between
/// checkpoints, so that recomputing one layer after another does not have to go back to the first
/// layer.
class Recomputation final : public PeakReducer {
public:
  Recomputation(const FunctionBudget &budget, OperationTimes &times)
      : budget(budget), times(times), listeners(budget.analysis, times), segments(budget, times),
        retention(budget, times, listeners) {}

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override;

  mlir::LogicalResult finish() override;
  mlir::LogicalResult improve() override;

  bool hasOtherStart() override { return !segments.empty(); }
  mlir::LogicalResult startOver() override;
  void report() const override;

private:
  /// Values that are recomputed together.
  struct Unit {
    mlir::SmallVector<mlir::OpResult, 3> values;
    Rematerializer::DeadOperands dead;
    int64_t bytes = 0; ///< bytes freed at the peak
    double time = 0;   ///< added seconds
    /// Whether the values are results of one operation that one copy computes.
    bool isTogether = false;
  };

  /// Equal units of different layers, in execution order.
  struct UnitGroup {
    mlir::SmallVector<Unit> units;

    int64_t getBytes() const { return units.front().bytes; }
    double getTime() const { return units.front().time; }
  };

  /// Data for the remark on an applied unit; later changes may replace the unit's values.
  struct Taken {
    mlir::Location location;
    int64_t bytes;
    size_t values;
  };

  /// Result of an eviction that was tried and undone.
  struct Trial {
    std::optional<double> price;  ///< Nothing if the eviction is impossible.
    std::optional<unsigned> dead; ///< The operand that is dead, if there is exactly one.
  };

  Rematerializer &getValues();
  const MicroStepSplit *findSplitOf(mlir::Value value) const;
  mlir::Operation *placeFor(mlir::Value value, mlir::Operation *place) const;
  int64_t bytesOf(mlir::Value value) const;
  int64_t bytesWaiting(mlir::OpResult value, mlir::Operation *place);
  std::tuple<size_t, int64_t, int64_t> kindOf(const Unit &unit);
  Trial tryOut(mlir::OpResult value, mlir::Operation *place, double maxTime);
  mlir::SmallVector<Unit> findUnits(mlir::Operation *place, const Unit *like = nullptr);
  void addUnits(mlir::OpResult value, int64_t bytes, mlir::Operation *place, double maxTime,
                mlir::SmallVector<Unit> &units, llvm::MapVector<mlir::Value, Unit> &keeping);
  std::optional<Unit> findTogether(mlir::Operation *op, mlir::Operation *place);
  double pricePerByte(const Unit &unit) const;
  std::optional<UnitGroup> choose(mlir::ArrayRef<UnitGroup> groups) const;
  int64_t countFor(const UnitGroup &group) const;
  struct Step {
    mlir::SmallVector<Unit> applied;
    mlir::SmallVector<Rematerializer::Added::Copy> copies;
    int64_t bytes = 0;
    double time = 0;

    Step &operator+=(const Step &other);
  };
  Step apply(mlir::ArrayRef<Unit> units, double price, mlir::Operation *place);
  bool evict(const Unit &unit, mlir::Operation *place, double &price, Step &step);
  mlir::SmallVector<mlir::Operation *> findEqualPlaces();
  mlir::LogicalResult takeEqual(const Unit &like, mlir::ArrayRef<mlir::Operation *> places);
  void add(const Step &step);
  double priceOf(const Rematerializer::Added &added);

  mlir::FailureOr<bool> replace(const Rematerializer::Added::Copy &copy,
                                mlir::ArrayRef<Retention::TimedCopy> known, Removals &removals);
  mlir::FailureOr<std::optional<Step>> repair(mlir::Value original, double maxTime,
                                              std::optional<Unit> &first);
  bool isWorthwhile(int64_t bytes) const {
    return budget.isWorthwhile(bytes) || (isImproving && bytes > 0 && bytes >= excess);
  }
  bool isRefused(const Unit &unit) const {
    return refused.contains({unit.values.front(), unit.values.size()});
  }
  void refuse(const Unit &unit) { refused.insert({unit.values.front(), unit.values.size()}); }

  const FunctionBudget &budget;
  OperationTimes &times;
  Listeners listeners;
  Segments segments;
  Retention retention;
  std::unique_ptr<Rematerializer> values; ///< null after another technique changed the function
  std::map<size_t, Trial> trials;         ///< By Rematerializer::hashEviction.
  std::optional<UnitGroup> candidate;
  std::vector<Taken> taken;
  double time = 0;                                        ///< added seconds
  llvm::DenseSet<std::pair<mlir::Value, size_t>> refused; ///< By first value and number of values.
  int64_t excess = 0;
  /// Whether a kept operand that is live at the peak in any case counts as free. While the plan is
  /// searched, its longer live range often creates the next peak.
  bool isImproving = false;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RECOMPUTATION_H

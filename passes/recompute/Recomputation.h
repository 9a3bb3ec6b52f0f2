//===- Recomputation.h - What is computed again, the cheapest bytes first ---------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RECOMPUTATION_H
#define MTC_PASSES_RECOMPUTE_RECOMPUTATION_H

#include "passes/cost/OperationTimes.h"
#include "passes/recompute/Retention.h"
#include "passes/recompute/Segments.h"
#include "passes/search/Goal.h"
#include "passes/search/Technique.h"

#include "mlir/IR/Remarks.h"

namespace mtc {

/// Computes values of a function again: of what is alive at the peak and read behind it, what frees
/// the most bytes for the least time first, equal values of equal layers together, those first that
/// would be kept the longest. Its other start has the segments between checkpoints computed again,
/// so that one layer after the other need not be from the first one on.
class Recomputation final : public Technique {
public:
  Recomputation(const Goal &goal, OperationTimes &times)
      : goal(goal), times(times), listeners(goal.analysis, times), segments(goal, times),
        retention(goal, times, listeners) {}

  mlir::FailureOr<std::optional<Offer>> findOffer(int64_t excess) override;
  mlir::FailureOr<bool> take() override;
  void noticeChange() override;

  mlir::LogicalResult finish() override;

  bool hasOtherStart() override { return !segments.empty(); }
  mlir::LogicalResult startOver() override;
  void report() const override;

private:
  /// Values that are computed again together.
  struct Unit {
    mlir::SmallVector<mlir::OpResult, 3> values;
    Rematerializer::DeadOperands dead;
    int64_t bytes = 0; ///< that it frees at the peak
    double time = 0;   ///< that it takes, in seconds

    std::tuple<size_t, int64_t, int64_t> getKind() const;
  };

  /// Units that do the same for different layers, in the order in which they run.
  struct Rung {
    mlir::SmallVector<Unit> units;

    int64_t getBytes() const { return units.front().bytes; }
    double getTime() const { return units.front().time; }
  };

  /// What is said of a unit; others may replace its values later.
  struct Taken {
    mlir::Location location;
    int64_t bytes;
    size_t values;
  };

  Rematerializer &getValues();
  mlir::SmallVector<Unit> findUnits(mlir::Operation *place, const Unit *like = nullptr);
  void addUnits(mlir::OpResult value, int64_t bytes, mlir::Operation *place,
                mlir::SmallVector<Unit> &units, llvm::MapVector<mlir::Value, Unit> &keeping);
  std::optional<Rung> choose(mlir::ArrayRef<Rung> rungs) const;
  int64_t countFor(const Rung &rung) const;
  struct Step {
    mlir::SmallVector<Unit> applied;
    mlir::SmallVector<Rematerializer::Added::Copy> copies;
    int64_t bytes = 0;
    double time = 0;

    Step &operator+=(const Step &other);
  };
  Step apply(mlir::ArrayRef<Unit> units, double price, mlir::Operation *place);
  bool evict(const Unit &unit, mlir::Operation *place, double &price, Step &step);
  mlir::SmallVector<mlir::Operation *> findEqualPlaces() const;
  mlir::LogicalResult takeEqual(const Unit &like, mlir::ArrayRef<mlir::Operation *> places);
  void add(const Step &step);
  double priceOf(const Rematerializer::Added &added);
  void refuse(const Unit &unit) { refused.insert({unit.values.front(), unit.values.size()}); }

  const Goal &goal;
  OperationTimes &times;
  Listeners listeners;
  Segments segments;
  Retention retention;
  std::unique_ptr<Rematerializer> values; ///< null: others have changed the function
  std::optional<Rung> offered;
  std::vector<Taken> taken;
  double time = 0;                                        ///< that was added
  llvm::DenseSet<std::pair<mlir::Value, size_t>> refused; ///< By their first value and size.
  int64_t excess = 0;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RECOMPUTATION_H

//===- Ladder.h - What is computed again, the cheapest bytes first ----------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_LADDER_H
#define MTC_PASSES_RECOMPUTE_LADDER_H

#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"
#include "passes/recompute/OperationTimes.h"
#include "passes/recompute/Rematerializer.h"

namespace mtc {

/// Computes values of a function again until its peak fits: of what is alive at the peak and read
/// behind it, what frees the most bytes for the least time first, equal values of equal layers
/// together, those first that would be kept the longest. A smaller budget climbs further, so that
/// the peak falls, and the time rises, with the budget.
class Ladder {
public:
  /// `budget`: bytes of the arena.
  Ladder(const FunctionMemory &function, MemoryAnalysis &analysis, OperationTimes &times,
         int64_t budget)
      : function(function), analysis(analysis), times(times), budget(budget),
        values(function.getFunction().front(), analysis) {}

  /// Climbs until the plan fits, or nothing lowers its peak. Fails with a diagnostic where there is
  /// no plan.
  mlir::LogicalResult climb();

  /// Whether the plan fits by now.
  bool isReached() const { return reached; }
  /// Takes back all that was climbed; it may be climbed again.
  mlir::LogicalResult undo();

  size_t getCount() const { return count; }
  /// Seconds that are added.
  double getTime() const { return time; }

private:
  /// Values that are computed again together.
  struct Unit {
    mlir::SmallVector<mlir::OpResult, 3> values;
    Rematerializer::DeadOperands dead;
    int64_t bytes = 0; ///< that it frees at the peak
    double time = 0;   ///< that it takes, in seconds
  };

  /// Units that do the same for different layers, in the order in which they run.
  struct Rung {
    mlir::SmallVector<Unit> units;

    int64_t getBytes() const { return units.front().bytes; }
    double getTime() const { return units.front().time; }
  };

  mlir::FailureOr<bool> fits();
  std::optional<Rung> findRung();
  mlir::SmallVector<Unit> findUnits(const OrderModel &model);
  void addUnits(mlir::OpResult value, int64_t bytes, mlir::Operation *place,
                mlir::SmallVector<Unit> &units, llvm::MapVector<mlir::Value, Unit> &keeping);
  std::optional<Rung> choose(mlir::ArrayRef<Rung> rungs) const;
  int64_t countFor(const Rung &rung) const;
  mlir::LogicalResult climb(const Rung &rung);
  struct Step {
    size_t applied = 0;
    int64_t bytes = 0;
    double time = 0;
  };
  Step apply(mlir::ArrayRef<Unit> units, double price, mlir::Operation *place);
  bool evict(const Unit &unit, mlir::Operation *place, double &price, double &addedTime);
  double priceOf(const Rematerializer::Added &added);
  int64_t liveBytes() const;
  void refuse(const Unit &unit) { refused.insert({unit.values.front(), unit.values.size()}); }

  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  OperationTimes &times;
  const int64_t budget;
  Rematerializer values;
  llvm::DenseSet<std::pair<mlir::Value, size_t>> refused; ///< By their first value and size.
  bool reached = false;
  int64_t excess = 0; ///< bytes by which the last plan exceeded the budget
  size_t count = 0;
  double time = 0;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_LADDER_H

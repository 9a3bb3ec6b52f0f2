//===- TileSearch.h - Reduction of peak memory by tiling --------------------------------------===//

#ifndef MTC_PASSES_TILING_TILESEARCH_H
#define MTC_PASSES_TILING_TILESEARCH_H

#include "passes/Listeners.h"
#include "passes/cost/OperationTimes.h"
#include "passes/search/FunctionBudget.h"
#include "passes/search/PeakReducer.h"
#include "passes/tiling/TileRegion.h"
#include "passes/tiling/TileWriter.h"

namespace mtc {

/// Finds tilings of values that are live at the peak of a function, by applying and measuring them.
class TileSearch final : public PeakReducer {
public:
  TileSearch(const FunctionBudget &budget, OperationTimes &times)
      : budget(budget), times(times), listeners(budget.analysis, times) {}

  mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) override;
  mlir::FailureOr<bool> applyCandidate() override;
  void noticeChange() override {}
  void report() const override;

private:
  /// A value and its number of tiles. The candidate's bytes are those freed at the current peak,
  /// even if the new peak is elsewhere.
  struct Choice : Candidate {
    mlir::Value value;
    mlir::Location location; ///< of the value, which is replaced
    int64_t count;
    int64_t lowers; ///< bytes by which the peak falls
  };

  /// Result of a tiling that was tried and undone.
  struct Trial {
    std::optional<Choice> choice; ///< Nothing if the peak does not fall.
    /// Whether the peak is outside the tiles, where the live bytes do not depend on the number of
    /// tiles.
    bool isElsewhere = false;
  };

  /// Result of the trials of a value, with the peak at that time.
  struct Known {
    int64_t peak;
    std::optional<Choice> choice;
  };

  /// Live ranges of values in the current plan, which trials change.
  class Plan {
  public:
    explicit Plan(const FunctionMemory &function);
    /// Returns a lower bound on the live bytes at the last tile of a region, for any number of
    /// tiles. Results with other users count as a whole, and so do the values that are live across
    /// the region.
    int64_t findBytesLeft(const TileRegion &region) const;

  private:
    struct Lifetime {
      int64_t begin, lastRead, bytes;
    };
    llvm::DenseMap<mlir::Operation *, int64_t> times; ///< Positions in the schedule.
    mlir::SmallVector<Lifetime, 0> values;            ///< By begin.
  };

  mlir::SmallVector<mlir::Value> findValues() const;
  const Known *findKnown(mlir::Value value, int64_t peak, int64_t excess) const;
  std::optional<TileRegion> findRegion(mlir::Value value, int64_t count) const;
  mlir::FailureOr<std::optional<Choice>> findCount(mlir::Value value, int64_t excess,
                                                   const OrderScore &before, const Plan &plan,
                                                   llvm::DenseSet<mlir::Value> &tried);
  mlir::FailureOr<Trial> tryOut(mlir::Value value, const TileRegion &region,
                                const OrderScore &before);
  mlir::SmallVector<mlir::Value> findEqual(mlir::Value value) const;

  const FunctionBudget &budget;
  OperationTimes &times;
  Listeners listeners;
  llvm::DenseMap<mlir::Value, Known> known;
  std::optional<Choice> candidate;
  std::vector<Choice> taken;
};

} // namespace mtc

#endif // MTC_PASSES_TILING_TILESEARCH_H

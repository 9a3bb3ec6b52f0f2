//===- PieceSearch.h - Which values are computed in pieces, and in how many -------------------===//

#ifndef MTC_PASSES_PIECES_PIECESEARCH_H
#define MTC_PASSES_PIECES_PIECESEARCH_H

#include "passes/Listeners.h"
#include "passes/cost/StepCost.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"
#include "passes/pieces/PieceRegion.h"

namespace mtc {

/// Finds what is worth computing in pieces at the peak of a function, by trying it out.
class PieceSearch {
public:
  /// The number of pieces of a value, with what computing them frees at the peak and takes longer.
  struct Choice {
    mlir::Value value;
    int64_t count;
    OrderScore score; ///< of the function that has it
    int64_t bytes;
    double time; ///< in seconds
  };

  PieceSearch(const FunctionMemory &function, MemoryAnalysis &analysis, StepCost &cost)
      : function(function), analysis(analysis), cost(cost), listeners(analysis, cost) {}

  /// What can be computed in pieces so that less is alive at the peak. Fails with a diagnostic where
  /// there is no plan.
  mlir::FailureOr<mlir::SmallVector<Choice>> find();
  /// The one that takes the least time of those that free as many bytes as are needed or, where
  /// there is none, for what it frees; null where none frees any.
  static const Choice *choose(mlir::ArrayRef<Choice> choices, int64_t needed);
  /// Computes a value in pieces, for good.
  mlir::LogicalResult apply(const Choice &choice);

private:
  mlir::SmallVector<mlir::Value> findValues() const;
  mlir::LogicalResult tryOut(mlir::Value value, int64_t count,
                             mlir::SmallVectorImpl<Choice> &choices);

  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  StepCost &cost;
  Listeners listeners;
};

} // namespace mtc

#endif // MTC_PASSES_PIECES_PIECESEARCH_H

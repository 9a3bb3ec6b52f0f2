//===- ExchangeTiler.h - Exchanges and contractions in tiles of rows --------------------------===//

#ifndef MTC_PASSES_OVERLAP_EXCHANGETILER_H
#define MTC_PASSES_OVERLAP_EXCHANGETILER_H

#include "ir/builders/TensorBuilder.h"
#include "passes/cost/OperationTimes.h"

namespace mtc {

/// Divides contractions whose results or operands are exchanged within tensor and context groups
/// into tiles of their rows. Tile i of each rank's piece consists of consecutive rows, so that the
/// rows of a rank are the same with any number of tiles.
class ExchangeTiler {
public:
  /// `tiles` is the number of tiles; 0: that with the shortest estimated time.
  ExchangeTiler(mlir::func::FuncOp function, OperationTimes &times, int64_t tiles);

  /// Returns the number of exchanges in tiles.
  int64_t run();

private:
  bool tileScatter(AllToAllOp exchange);
  bool tileGather(AllGatherOp exchange);
  bool findContractions(mlir::Value value);
  bool isOfRows(ContractOp contraction, int64_t count) const;
  mlir::Value buildTile(TensorBuilder &b, mlir::Value value, int64_t tile);
  mlir::Value buildContraction(TensorBuilder &b, ContractOp contraction, mlir::Value rows);
  int64_t chooseCount(CollectiveAttr exchange, double copied, double hidden);
  double findHiddenSeconds() const;

  mlir::func::FuncOp function;
  OperationTimes &times;
  const int64_t tiles;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers; ///< of contractions

  // The current exchange.
  int64_t ranks = 0, piece = 0, count = 0;
  mlir::SmallVector<ContractOp> contractions;
};

} // namespace mtc

#endif // MTC_PASSES_OVERLAP_EXCHANGETILER_H

//===- PartExchange.h - Parts of values of the ranks of a group -------------------------------===//

#ifndef MTC_PASSES_SPLITTING_PARTEXCHANGE_H
#define MTC_PASSES_SPLITTING_PARTEXCHANGE_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Emits conversions between whole values and their parts along an axis.
class PartExchange {
public:
  PartExchange(TensorBuilder &b, RankGroup group) : b(b), group(group) {}

  int64_t getRanks() const { return group.count; }
  /// Returns this rank's part of a whole value, without an exchange.
  mlir::Value partOf(mlir::Value whole, AxisSplitAttr split);
  /// Returns whether each rank adds a piece of a sum of this type, instead of all of it.
  static bool addsInPieces(mlir::RankedTensorType type);
  /// Returns the combination of this rank's part of the values of all ranks. The parts are pieces
  /// of consecutive elements.
  mlir::Value combinePart(mlir::Value value, AxisSplitAttr split, ReductionKind kind);
  /// Returns, on every rank, the combination of the values of all ranks: a balanced tree in the
  /// order of ranks.
  mlir::Value combine(mlir::Value value, ReductionKind kind);
  /// Returns the product of `factor` and the number of this rank in its group, an i64 scalar.
  mlir::Value rankTimes(int64_t factor);

  /// Returns the combination of values of one type by a balanced tree, in their order. Nothing else
  /// is added to them before, as if they were those of other ranks.
  mlir::Value combineOwn(llvm::ArrayRef<mlir::Value> values, ReductionKind kind);

private:
  mlir::Value separate(mlir::Value value);
  mlir::Value combineTree(llvm::ArrayRef<mlir::Value> values, ReductionKind kind);

  mlir::Value combinePiece(mlir::Value value, int64_t piece, ReductionKind kind);
  mlir::Value combineRows(mlir::Value rows, ReductionKind kind);
  mlir::Value flatten(mlir::Value value);

  TensorBuilder &b;
  RankGroup group;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_PARTEXCHANGE_H

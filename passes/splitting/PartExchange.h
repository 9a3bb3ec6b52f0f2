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
  /// Returns the product of `factor` and the number of this rank in its group, an i64 scalar.
  mlir::Value rankTimes(int64_t factor);

private:
  TensorBuilder &b;
  RankGroup group;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_PARTEXCHANGE_H

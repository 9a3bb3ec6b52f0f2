//===- WholeTensors.h - Assignment of whole tensors to ranks ----------------------------------===//

#ifndef MTC_PASSES_SHARDING_WHOLETENSORS_H
#define MTC_PASSES_SHARDING_WHOLETENSORS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Assigns tensors of one type, of which each rank has a piece, to ranks that compute with whole
/// tensors: rank i assembles tensor i. Ranks without a tensor compute with zeros, because all ranks
/// have the same program. A single tensor is assembled by every rank, since no rank would have
/// anything else to do.
class WholeTensors {
public:
  /// `count` is the number of tensors, at most that of the ranks of the group.
  WholeTensors(TensorBuilder &b, mlir::RankedTensorType type, size_t count, RankGroup group);

  /// Returns this rank's tensor from the pieces of each tensor that this rank has.
  mlir::Value assemble(llvm::ArrayRef<mlir::Value> pieces);
  /// Returns this rank's piece of each tensor from the tensor that each rank has.
  llvm::SmallVector<mlir::Value> distribute(mlir::Value tensor);
  /// Returns the value that belongs to this rank's tensor from values that every rank has.
  mlir::Value select(llvm::ArrayRef<mlir::Value> values);
  /// Returns the value of each tensor from the value that each rank has.
  llvm::SmallVector<mlir::Value> collect(mlir::Value value);

private:
  bool isReplicated() const { return count == 1; }
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values);
  mlir::Value flatten(mlir::Value value);

  TensorBuilder &b;
  mlir::RankedTensorType type, piece;
  size_t count;
  RankGroup group;
};

} // namespace mtc

#endif // MTC_PASSES_SHARDING_WHOLETENSORS_H

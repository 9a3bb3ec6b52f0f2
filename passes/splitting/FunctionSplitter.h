//===- FunctionSplitter.h - Division of a function among ranks --------------------------------===//

#ifndef MTC_PASSES_SPLITTING_FUNCTIONSPLITTER_H
#define MTC_PASSES_SPLITTING_FUNCTIONSPLITTER_H

#include "passes/splitting/AxisGroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Returns a split into a part for each rank; null if there is one rank.
AxisSplitAttr forRanks(AxisSplitAttr split, int64_t ranks);

/// Replaces the divided operations of a function by what one rank computes.
class FunctionSplitter {
public:
  /// Each rank of the group computes the same number of the `chunks` parts of an axis.
  FunctionSplitter(mlir::func::FuncOp function, const Splits &splits,
                   const VariableFamilies &families, RankGroup group, int64_t chunks)
      : function(function), splits(splits), families(families), group(group), ranks(group.count),
        chunks(chunks) {}

  void run();

private:
  /// What a rank has of a value: its part along an axis, or partial values of the whole.
  struct Part {
    AxisSplitAttr split; ///< null for partial values
    /// The part, or the partial values of this rank's chunks.
    llvm::SmallVector<mlir::Value> values;
    mlir::Value whole = {}; ///< null until an operation needs it
    int64_t wholeAt = 0;    ///< the number of contractions before `whole`
  };

  AxisSplitAttr splitOf(llvm::StringRef variable) const;
  mlir::Value wholeOf(TensorBuilder &b, mlir::Value original);
  mlir::Value partOf(TensorBuilder &b, mlir::Value original, AxisSplitAttr split);
  void setParts(mlir::Operation *op, llvm::ArrayRef<AxisSplitAttr> results,
                mlir::ValueRange values);
  void splitOperation(mlir::Operation *op, const OperationSplit &split);
  llvm::SmallVector<mlir::Value> buildOnChunks(mlir::Operation *op, const OperationSplit &split,
                                               int64_t count, TensorBuilder &b);
  llvm::SmallVector<mlir::Value> buildAddends(mlir::Operation *op, const OperationSplit &split,
                                              TensorBuilder &b);
  llvm::SmallVector<mlir::Value> buildOnAddends(mlir::Operation *op, TensorBuilder &b);
  void replaceUses(mlir::Operation *op);

  mlir::func::FuncOp function;
  const Splits &splits;
  const VariableFamilies &families;
  RankGroup group;
  int64_t ranks, chunks;
  int64_t contractions = 0;                ///< before the current operation
  llvm::DenseMap<mlir::Value, Part> parts; ///< of original values
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> partsOfWhole;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_FUNCTIONSPLITTER_H

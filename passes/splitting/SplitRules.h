//===- SplitRules.h - How operations are divided among ranks ----------------------------------===//

#ifndef MTC_PASSES_SPLITTING_SPLITRULES_H
#define MTC_PASSES_SPLITTING_SPLITRULES_H

#include "passes/splitting/KernelAxes.h"

#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// How each rank of a group computes its part of an operation. Operands and results without a split
/// are whole.
struct OperationSplit {
  llvm::SmallVector<AxisSplitAttr> operands, results;
  /// The results are whole, but each rank has a part of each element: the ranks' values must be
  /// combined by this function.
  std::optional<ReductionKind> partial = {};
  /// The splits of operands and results in other operations, if these are others: attention divides
  /// heads of whole sequences, between parts of sequences.
  llvm::SmallVector<AxisSplitAttr, 0> operandsElsewhere = {}, resultsElsewhere = {};

  llvm::ArrayRef<AxisSplitAttr> getOperandsElsewhere() const {
    return operandsElsewhere.empty() ? llvm::ArrayRef(operands) : llvm::ArrayRef(operandsElsewhere);
  }
  llvm::ArrayRef<AxisSplitAttr> getResultsElsewhere() const {
    return resultsElsewhere.empty() ? llvm::ArrayRef(results) : llvm::ArrayRef(resultsElsewhere);
  }
  /// Returns whether the operands, too, are addends of each rank, as in a sum of sums.
  bool isOfAddends() const {
    return partial && llvm::all_of(operands, [](AxisSplitAttr part) { return !part; });
  }
  bool operator==(const OperationSplit &other) const {
    return operands == other.operands && results == other.results && partial == other.partial &&
           getOperandsElsewhere() == other.getOperandsElsewhere() &&
           getResultsElsewhere() == other.getResultsElsewhere();
  }
};

/// Returns whether the result is a sum or product whose bits depend on the order of its terms,
/// which are those of chunks then. Gathered rows have one addend that is not -0.
bool dependsOnOrder(mlir::Operation *op, const OperationSplit &split);

/// Returns the type of a rank's addends of a result: floats of less than 32 bits are rounded after
/// their sum only.
mlir::RankedTensorType addendType(mlir::Type result);

/// Returns whether an operation only casts a value from or to narrow storage, whose addends are the
/// same.
bool castsAddends(mlir::Operation *op);

/// An operand or a result of an operation.
struct Position {
  bool isResult;
  unsigned number;
};

/// Derives the split of an operation from that of one operand or result. Contractions, attention,
/// tables that are gathered from or scattered to, and operations that regroup the elements of the
/// divided axis have rules of their own; for all others, the kernel's maps decide.
class SplitRules {
public:
  /// If sequences are divided, heads are divided in each of `headBlocks` blocks: another group can
  /// divide the heads among as many ranks.
  explicit SplitRules(int64_t headBlocks = 1) : headBlocks(headBlocks) {}
  /// Returns the only split of `op` with this part of an operand or result; nothing if there is
  /// none.
  std::optional<OperationSplit> derive(mlir::Operation *op, Position position, AxisSplitAttr split);
  /// Returns the split of an operation that each rank can compute on its addends of the operands,
  /// so that only the result is exchanged; nothing if there is none.
  static std::optional<OperationSplit> deriveOfAddends(mlir::Operation *op);

private:
  std::optional<OperationSplit> deriveFromKernel(mlir::Operation *op, Position position,
                                                 AxisSplitAttr split);

  int64_t headBlocks;
  llvm::DenseMap<mlir::Operation *, std::optional<KernelAxes>> axes;
};

/// Returns whether a rank has the same number of elements as every other rank.
bool divides(AxisSplitAttr split, mlir::Type type);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_SPLITRULES_H

//===- RowValues.h - Builders of values for metrics -------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_ROWVALUES_H
#define MTC_PASSES_LOSSES_ROWVALUES_H

#include "passes/losses/Loss.h"
#include "runtime/abi/row_values.h"

namespace mtc {

/// Builds the class with the largest score along the last axis, the first of several, as i32; the
/// number of classes if a score is not a number.
mlir::Value largestClass(TensorBuilder &b, mlir::Value scores);

/// Adds the logits of positive targets and their labels, 1 for positive ones and -1 for ignored
/// ones, i32, unless a sample has too many of them.
void addScores(TensorBuilder &b, mlir::Value logits, mlir::Value labels,
               llvm::SmallVectorImpl<RowValue> &values);

/// Adds the numbers of positives among predictions and labels, which are i1, as elements of a float
/// type.
void addPositives(TensorBuilder &b, mlir::Value predicted, mlir::Value labelled, mlir::Type element,
                  const abi::PositiveNames &names, llvm::SmallVectorImpl<RowValue> &values);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_ROWVALUES_H

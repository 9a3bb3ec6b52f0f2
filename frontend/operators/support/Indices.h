//===- Indices.h - Tuples of indices as one ---------------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_INDICES_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_INDICES_H

#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc::onnx {

/// Row-major positions in a box of `extents` that the tuples along the last axis of `indices` ([..,
/// k], k extents) name: shape [..]. A negative component counts from the end of its axis. Tuples of
/// several with one outside its axis become the number of elements of the box, which no gather or
/// scatter takes; single ones stay as they are, and their gather or scatter checks them.
mlir::Value linearize(TensorBuilder &b, mlir::Value indices, llvm::ArrayRef<int64_t> extents);

/// The same for tuples known at compile time; nothing if a component lies outside its axis.
std::optional<llvm::SmallVector<int64_t>> linearizeConstant(llvm::ArrayRef<int64_t> tuples,
                                                            llvm::ArrayRef<int64_t> extents);

/// What a gather along `axis` at constant indices of `indexShape` reads, if they ascend evenly
/// (positions) or are all equal (a single type of token): a slice, repeated in the second case, so
/// that the gradient needs no scatter. Null for other indices, and for indices outside the axis.
mlir::Value gatherEvenly(TensorBuilder &b, mlir::Value x, int64_t axis,
                         llvm::ArrayRef<int64_t> indices, llvm::ArrayRef<int64_t> indexShape);

/// The first lengths[n] elements along axis 1 of row n of x [N, T, ..] in reverse; those behind
/// stay. `lengths` [N] are integers.
mlir::Value reverseSequences(TensorBuilder &b, mlir::Value x, mlir::Value lengths);

/// The permutation that moves `axes` to the front, in this order; the others follow in theirs.
llvm::SmallVector<int64_t> axesFirst(int64_t rank, llvm::ArrayRef<int64_t> axes);
/// The permutation that moves `axis` to the end, and its inverse.
llvm::SmallVector<int64_t> axisLast(int64_t rank, int64_t axis);
llvm::SmallVector<int64_t> axisBack(int64_t rank, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_INDICES_H

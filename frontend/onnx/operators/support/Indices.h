//===- Indices.h - Multi-dimensional indices and axis permutations ----------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INDICES_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INDICES_H

#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc::onnx {

/// Converts index tuples to linear indices. The tuples are the last axis of `indices` ([.., k]) and
/// index a row-major box of k `extents`; the result has shape [..]. Negative components count from
/// the end of their axis. A tuple of several components with one out of bounds becomes the number
/// of elements of the box, an index that every gather and scatter rejects. Single indices are
/// returned unchanged, because the gather or scatter checks them.
mlir::Value linearize(TensorBuilder &b, mlir::Value indices, llvm::ArrayRef<int64_t> extents);

/// Converts index tuples that are known at compile time. Returns nothing if a component is out of
/// bounds.
std::optional<llvm::SmallVector<int64_t>> linearizeConstant(llvm::ArrayRef<int64_t> tuples,
                                                            llvm::ArrayRef<int64_t> extents);

/// Builds a gather along `axis` at constant indices of `indexShape` as a slice, so that the
/// gradient needs no scatter. Supports evenly ascending indices (position embeddings) and equal
/// indices (a single token type), for which the slice is broadcast. Returns null for other indices
/// and for indices out of bounds.
mlir::Value gatherEvenly(TensorBuilder &b, mlir::Value x, int64_t axis,
                         llvm::ArrayRef<int64_t> indices, llvm::ArrayRef<int64_t> indexShape);

/// Reverses the first lengths[n] elements along axis 1 of sequence n of x [N, T, ..]; later
/// elements keep their positions. `lengths` is an integer tensor [N].
mlir::Value reverseSequences(TensorBuilder &b, mlir::Value x, mlir::Value lengths);

/// Returns the permutation that moves `axes` to the front, in the given order; the other axes keep
/// their order.
llvm::SmallVector<int64_t> axesFirst(int64_t rank, llvm::ArrayRef<int64_t> axes);
/// Returns the permutation that moves `axis` to the end (`axisLast`), and its inverse (`axisBack`).
llvm::SmallVector<int64_t> axisLast(int64_t rank, int64_t axis);
llvm::SmallVector<int64_t> axisBack(int64_t rank, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INDICES_H

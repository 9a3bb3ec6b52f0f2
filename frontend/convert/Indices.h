//===- Indices.h - Tuples of indices as one
//------------------------------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_INDICES_H
#define MTC_FRONTEND_CONVERT_INDICES_H

#include "ir/TensorBuilder.h"

namespace mtc::onnx {

/// Row-major positions in a box of `extents` that the tuples along the last axis of `indices` ([..,
/// k], k extents) name: shape [..], non-negative. A negative component counts from the end of its
/// axis. A tuple with a component outside its axis becomes the number of elements of the box, which
/// no gather or scatter takes.
mlir::Value linearise(TensorBuilder &b, mlir::Value indices, llvm::ArrayRef<int64_t> extents);

/// The permutation that moves `axis` to the end, and its inverse.
llvm::SmallVector<int64_t> axisLast(int64_t rank, int64_t axis);
llvm::SmallVector<int64_t> axisBack(int64_t rank, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_CONVERT_INDICES_H

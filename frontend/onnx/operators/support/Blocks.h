//===- Blocks.h - Packed integers and scales of blocks ----------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BLOCKS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BLOCKS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Repeats each element of x `block` times along an axis. `shape` is the shape of the result, whose
/// last block may be shorter.
mlir::Value spreadBlocks(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t block,
                         llvm::ArrayRef<int64_t> shape);

/// Splits each byte of x along the last axis into 8 / `bits` unsigned integers, the low bits first.
/// Returns the first `count` integers of each row as bytes.
mlir::Value unpackBits(TensorBuilder &b, mlir::Value x, int64_t bits, int64_t count);

/// Splits each byte into 8 / `bits` unsigned integers like `unpackBits`, but along `axis`, first
/// the low bits of all bytes. Adjacent bytes thus become adjacent integers, as vectors require.
mlir::Value unpackPlanes(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t bits);

/// Returns signed integers of `bits` bits, given as unsigned ones in an element type of 8 bits.
mlir::Value signExtend(TensorBuilder &b, mlir::Value x, int64_t bits);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BLOCKS_H

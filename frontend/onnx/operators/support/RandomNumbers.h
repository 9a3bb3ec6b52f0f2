//===- RandomNumbers.h - Random numbers for a node --------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RANDOMNUMBERS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RANDOMNUMBERS_H

#include "frontend/onnx/operators/support/Conversion.h"

namespace mtc::onnx {

/// Returns 32 random bits for each element of `shape`, as signed integers. Every call uses its own
/// random stream.
mlir::Value randomBits(Conversion &node, llvm::ArrayRef<int64_t> shape);

/// Returns f32 numbers, uniformly distributed in [0, 1).
mlir::Value randomUniform(Conversion &node, llvm::ArrayRef<int64_t> shape);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RANDOMNUMBERS_H

//===- RandomNumbers.h - Numbers drawn for a node ---------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_RANDOMNUMBERS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_RANDOMNUMBERS_H

#include "frontend/operators/support/Conversion.h"

namespace mtc::onnx {

/// 32 random bits for each element of `shape`, as signed numbers; others at each call.
mlir::Value randomBits(Conversion &node, llvm::ArrayRef<int64_t> shape);

/// Numbers in f32 that are evenly distributed over [0, 1).
mlir::Value randomUniform(Conversion &node, llvm::ArrayRef<int64_t> shape);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_RANDOMNUMBERS_H

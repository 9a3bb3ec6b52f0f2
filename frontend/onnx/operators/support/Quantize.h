//===- Quantize.h - Quantization of floats to integers or 8-bit floats ------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_QUANTIZE_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_QUANTIZE_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Returns the minimum and maximum finite value of an integer or float type.
std::pair<double, double> rangeOf(mlir::Type element);

/// Casts to a float type. Values out of range, including infinities, become the nearest finite
/// value, where the gradient is 0; NaN remains NaN.
mlir::Value saturatingCast(TensorBuilder &b, mlir::Value x, mlir::Type element);

/// Returns round(x / scale) + zeroPoint, clamped to the range of the integer type `element`, still
/// as floats. Rounds halves to even. All operands have the same shape.
mlir::Value quantize(TensorBuilder &b, mlir::Value x, mlir::Value scale, mlir::Value zeroPoint,
                     mlir::Type element);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_QUANTIZE_H

//===- Quantize.h - Quantization of floats to an integer range --------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Returns the minimum and maximum value of an integer type.
std::pair<double, double> integerRange(mlir::Type element);

/// Returns round(x / scale) + zeroPoint, clamped to the range of `element`, still as floats. Rounds
/// halves to even. All operands have the same shape.
mlir::Value quantize(TensorBuilder &b, mlir::Value x, mlir::Value scale, mlir::Value zeroPoint,
                     mlir::Type element);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H

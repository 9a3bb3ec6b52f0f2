//===- Quantize.h - Floats to whole numbers of a type's range ---------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// The least and the greatest value of an integer type.
std::pair<double, double> integerRange(mlir::Type element);

/// x / scale rounded to the nearest whole number, halves to even, plus the zero point, brought into
/// the range of `element`; operands have one shape. Still floats.
mlir::Value quantize(TensorBuilder &b, mlir::Value x, mlir::Value scale, mlir::Value zeroPoint,
                     mlir::Type element);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_QUANTIZE_H

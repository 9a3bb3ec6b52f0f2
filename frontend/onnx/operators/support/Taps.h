//===- Taps.h - Interpolation taps along an axis ----------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_TAPS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_TAPS_H

#include "ir/builders/TensorBuilder.h"

#include <array>

namespace mtc::onnx {

/// One sample of an interpolation along an axis: its index (i64, always in bounds) and its weight,
/// a float of the coordinate's type.
struct Tap {
  mlir::Value index, weight;
};

/// Returns the tap at an integer-valued coordinate. Its weight is 0 outside [0, extent); a NaN
/// coordinate reads element 0.
Tap tapAt(TensorBuilder &b, mlir::Value place, mlir::Value weight, int64_t extent);

/// Returns the two taps of linear interpolation at `place`. The gradient with respect to a
/// coordinate that is exactly an integer is the right-sided one.
std::array<Tap, 2> linearTaps(TensorBuilder &b, mlir::Value place, int64_t extent);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_TAPS_H

//===- Taps.h - The elements beside a place between them --------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_TAPS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_TAPS_H

#include "ir/builders/TensorBuilder.h"

#include <array>

namespace mtc::onnx {

/// An element of an axis that a place is read from: its index, i64 and within the axis, and its
/// weight, a float of the place's type.
struct Tap {
  mlir::Value index, weight;
};

/// The element at a place that is a whole number. Outside the axis [0, extent) it weighs 0; a place
/// that is no number reads element 0.
Tap tapAt(TensorBuilder &b, mlir::Value place, mlir::Value weight, int64_t extent);

/// The two elements beside a place, weighted by how near they are. Neither's weight has a
/// derivative in where one element ends and the next begins: the place's own is that of its right
/// side.
std::array<Tap, 2> linearTaps(TensorBuilder &b, mlir::Value place, int64_t extent);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_TAPS_H

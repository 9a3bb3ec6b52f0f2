//===- Softmax.h - Softmax and its logarithm --------------------------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_SOFTMAX_H
#define MTC_FRONTEND_CONVERT_SOFTMAX_H

#include "ir/TensorBuilder.h"

namespace mtc::onnx {

/// The float type in which sums of elements of this type are taken: f32 for narrower ones, else
/// itself.
mlir::Type computeType(TensorBuilder &b, mlir::Type element);

/// e^x / sum e^x along an axis.
mlir::Value softmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// The same with zeros, and a gradient of zero, where all of a row is -inf.
mlir::Value safeSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// x - ln sum e^x along an axis.
mlir::Value logSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_CONVERT_SOFTMAX_H

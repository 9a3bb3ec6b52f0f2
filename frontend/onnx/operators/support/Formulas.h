//===- Formulas.h - Tensor functions shared by operator families ------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FORMULAS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FORMULAS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Returns the accumulation type for elements of a float type: f32 for types of less than 32 bits,
/// otherwise `element` itself.
mlir::Type computeType(TensorBuilder &b, mlir::Type element);

/// Returns the axes [axis, rank).
llvm::SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank);

/// Broadcasts a per-channel tensor [C] (axis 1 of `shape`) to `shape`.
mlir::Value perChannel(TensorBuilder &b, mlir::Value channel, llvm::ArrayRef<int64_t> shape);

/// Clamps x to [low, high]; the gradient at the bounds is 0. A bound may be null.
mlir::Value clip(TensorBuilder &b, mlir::Value x, mlir::Value low, mlir::Value high);

/// Returns x^exponent for x >= 0 and 0 < exponent < 1. The gradient at 0 is defined as 0 instead of
/// infinity.
mlir::Value safeRoot(TensorBuilder &b, mlir::Value x, double exponent);

/// Returns the k largest (or smallest) elements along an axis in sorted order, and their indices.
std::pair<mlir::Value, mlir::Value> topK(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t k,
                                         bool smallest);

/// Returns the number of elements that a reduction of x over `axes` combines.
int64_t extentOver(mlir::Value x, llvm::ArrayRef<int64_t> axes);
/// Returns the mean of a float tensor over `axes`, which are removed: the sum times 1/n.
mlir::Value meanOver(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes);

/// (x - mean) / sqrt(variance + epsilon), with the mean, the variance and the factor 1 /
/// sqrt(variance + epsilon) of the normalized axes, which are removed from these three. The
/// variance is computed from the centered elements. Mean and variance are those of all `ranks`.
struct Normalized {
  mlir::Value value, mean, variance, inverseDeviation;
};
Normalized normalize(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes, double epsilon,
                     int64_t ranks = 1);

/// x / sqrt(mean(x²) + epsilon) over `axes`, and the factor 1 / sqrt(mean(x²) + epsilon), without
/// these axes.
struct RootMeanSquareNormalized {
  mlir::Value value, inverse;
};
RootMeanSquareNormalized rootMeanSquareNormalize(TensorBuilder &b, mlir::Value x,
                                                 llvm::ArrayRef<int64_t> axes, double epsilon);

// Softmax functions subtract the maximum of the axis before the exponential. The result does not
// depend on the maximum, so no gradient is propagated through it.

/// Returns e^x / sum e^x along an axis.
mlir::Value softmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// Returns the softmax along an axis, with zeros and a zero gradient where all elements are -inf.
mlir::Value safeSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// Returns x - ln sum e^x along an axis.
mlir::Value logSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FORMULAS_H

//===- Formulas.h - What several families write in the core -----------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_FORMULAS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_FORMULAS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// The float type in which sums of elements of this type are taken: f32 for narrower ones, else
/// itself.
mlir::Type computeType(TensorBuilder &b, mlir::Type element);

/// The axes [axis, rank).
llvm::SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank);

/// A value for each channel (axis 1 of `shape`), repeated to `shape`.
mlir::Value perChannel(TensorBuilder &b, mlir::Value channel, llvm::ArrayRef<int64_t> shape);

/// low where x <= low, high where x >= high; the gradient at the bounds is 0. A bound may be null.
mlir::Value clip(TensorBuilder &b, mlir::Value x, mlir::Value low, mlir::Value high);

/// x^exponent of x >= 0, 0 < exponent < 1, with the gradient 0 at 0, where it is infinite.
mlir::Value safeRoot(TensorBuilder &b, mlir::Value x, double exponent);

/// The k largest (or smallest) elements along an axis, in order, and their indices.
std::pair<mlir::Value, mlir::Value> topK(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t k,
                                         bool smallest);

/// The number of elements that a reduction of x over axes combines.
int64_t extentOver(mlir::Value x, llvm::ArrayRef<int64_t> axes);
/// The mean of floats over axes, which vanish: their sum times 1/n.
mlir::Value meanOver(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes);

/// (x - mean) / sqrt(variance + epsilon) over axes, and mean, variance and factor, without the
/// axes. The variance is that of the centred elements.
struct Normalized {
  mlir::Value value, mean, variance, inverseDeviation;
};
Normalized normalize(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes, double epsilon);

// The row's maximum is subtracted before the exponential. The result does not depend on it, so it
// is detached.

/// e^x / sum e^x along an axis.
mlir::Value softmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// The same with zeros, and a gradient of zero, where all of a row is -inf.
mlir::Value safeSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);
/// x - ln sum e^x along an axis.
mlir::Value logSoftmax(TensorBuilder &b, mlir::Value x, int64_t axis);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_FORMULAS_H

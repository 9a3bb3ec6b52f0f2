//===- ActivationFormulas.h - Activation functions in the core dialect ------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Returns x for x > 0 and `elsewhere` otherwise.
mlir::Value aboveZero(TensorBuilder &b, mlir::Value x, mlir::Value elsewhere);
/// Returns e^x - 1 for x <= 0 and 0 for x > 0.
mlir::Value expm1OfNegative(TensorBuilder &b, mlir::Value x);

/// Returns 0 for x <= 0 and x elsewhere. The gradient at 0 is 0.
mlir::Value relu(TensorBuilder &b, mlir::Value x);
/// Returns 0 for x <= alpha and x elsewhere.
mlir::Value thresholdedRelu(TensorBuilder &b, mlir::Value x, double alpha);
/// Returns alpha x for x <= 0 and x elsewhere.
mlir::Value leakyRelu(TensorBuilder &b, mlir::Value x, double alpha);
/// Returns alpha (e^x - 1) for x <= 0 and x elsewhere.
mlir::Value elu(TensorBuilder &b, mlir::Value x, double alpha);
/// Returns ln(1 + e^x).
mlir::Value softplus(TensorBuilder &b, mlir::Value x);
/// Returns alpha x + beta, clipped to [0, 1].
mlir::Value hardSigmoid(TensorBuilder &b, mlir::Value x, double alpha, double beta);
/// Returns x / (1 + |x|).
mlir::Value softsign(TensorBuilder &b, mlir::Value x);
/// Returns gamma x for x > 0, gamma alpha (e^x - 1) elsewhere.
mlir::Value selu(TensorBuilder &b, mlir::Value x, double alpha, double gamma);
/// Returns x / (1 + e^(-alpha x)).
mlir::Value swish(TensorBuilder &b, mlir::Value x, double alpha);
/// Returns 0.5 x (1 + erf(x / √2)).
mlir::Value gelu(TensorBuilder &b, mlir::Value x);
/// Returns 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), the approximation of Hendrycks and Gimpel
/// (2016).
mlir::Value tanhGelu(TensorBuilder &b, mlir::Value x);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H

//===- ActivationFormulas.h - Activation functions in the core --------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// x for x > 0, `elsewhere` otherwise.
mlir::Value aboveZero(TensorBuilder &b, mlir::Value x, mlir::Value elsewhere);
/// e^x - 1 where x <= 0; where x > 0 it is 0.
mlir::Value expm1OfNegative(TensorBuilder &b, mlir::Value x);

/// 0 for x <= 0, x elsewhere. The gradient at 0 is 0.
mlir::Value relu(TensorBuilder &b, mlir::Value x);
/// 0 for x <= alpha, x elsewhere.
mlir::Value thresholdedRelu(TensorBuilder &b, mlir::Value x, double alpha);
/// alpha x for x <= 0, x elsewhere.
mlir::Value leakyRelu(TensorBuilder &b, mlir::Value x, double alpha);
/// alpha (e^x - 1) for x <= 0, x elsewhere.
mlir::Value elu(TensorBuilder &b, mlir::Value x, double alpha);
/// ln(1 + e^x).
mlir::Value softplus(TensorBuilder &b, mlir::Value x);
/// alpha x + beta between 0 and 1.
mlir::Value hardSigmoid(TensorBuilder &b, mlir::Value x, double alpha, double beta);
/// x / (1 + |x|).
mlir::Value softsign(TensorBuilder &b, mlir::Value x);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_ACTIVATIONFORMULAS_H

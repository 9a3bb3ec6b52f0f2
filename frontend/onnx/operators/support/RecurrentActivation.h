//===- RecurrentActivation.h - Activation functions of RNN, GRU and LSTM ----------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RECURRENTACTIVATION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RECURRENTACTIVATION_H

#include "frontend/onnx/dialect/Node.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// An activation function of RNN, GRU or LSTM, with its parameters.
struct RecurrentActivation {
  using Build = mlir::Value (*)(TensorBuilder &b, mlir::Value x, double alpha, double beta);

  mlir::Value build(TensorBuilder &b, mlir::Value x) const { return function(b, x, alpha, beta); }

  llvm::StringRef name; ///< as in the standard
  Build function;
  double alpha, beta;
};

/// Reads attributes activations, activation_alpha and activation_beta; `byDefault` sets the
/// expected number of functions. The alpha and beta values are assigned in order to the functions
/// that have such parameters. Fails with a diagnostic for unknown names and wrong counts.
mlir::FailureOr<mlir::SmallVector<RecurrentActivation>>
readActivations(NodeView &node, mlir::ArrayRef<mlir::StringRef> byDefault);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_RECURRENTACTIVATION_H

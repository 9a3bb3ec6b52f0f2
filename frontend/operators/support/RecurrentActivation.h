//===- RecurrentActivation.h - The functions that recurrent cells name ------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_RECURRENTACTIVATION_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_RECURRENTACTIVATION_H

#include "frontend/dialect/Node.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// A function of RNN, GRU and LSTM, with its numbers.
struct RecurrentActivation {
  using Build = mlir::Value (*)(TensorBuilder &b, mlir::Value x, double alpha, double beta);

  mlir::Value build(TensorBuilder &b, mlir::Value x) const { return function(b, x, alpha, beta); }

  Build function;
  double alpha, beta;
};

/// Attributes activations, activation_alpha and activation_beta: as many functions as `byDefault`
/// names. The numbers are those of the functions that take some, in turn. Failure, reported, for
/// an unknown name or another number of them.
mlir::FailureOr<mlir::SmallVector<RecurrentActivation>>
readActivations(NodeView &node, mlir::ArrayRef<mlir::StringRef> byDefault);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_RECURRENTACTIVATION_H

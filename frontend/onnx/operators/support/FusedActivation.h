//===- FusedActivation.h - Activation functions fused into other operators --------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FUSEDACTIVATION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FUSEDACTIVATION_H

#include "frontend/onnx/dialect/Node.h"
#include "ir/builders/TensorBuilder.h"

#include <array>

namespace mtc::onnx {

/// An activation function that onnxruntime applies to the result of a matrix multiplication or
/// convolution, with up to two parameters.
struct FusedActivation {
  using Build = mlir::Value (*)(TensorBuilder &b, mlir::Value x, double first, double second);

  mlir::Value build(TensorBuilder &b, mlir::Value x) const {
    return function ? function(b, x, parameters[0], parameters[1]) : x;
  }

  Build function = nullptr; ///< Null without an activation.
  std::array<double, 2> parameters{};

  /// Reads attributes `activation` and `activation_params` of convolutions. Fails with a diagnostic
  /// for unknown names and wrong numbers of parameters.
  static mlir::FailureOr<FusedActivation> readList(NodeView &node);
  /// Reads attributes `activation`, `activation_alpha`, `activation_beta` and `activation_gamma` of
  /// matrix multiplications. Fails with a diagnostic for unknown names.
  static mlir::FailureOr<FusedActivation> readNamed(NodeView &node);
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_FUSEDACTIVATION_H

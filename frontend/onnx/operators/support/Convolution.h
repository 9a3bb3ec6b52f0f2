//===- Convolution.h - Operands and windows of convolutions -----------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVOLUTION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVOLUTION_H

#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Windows.h"

namespace mtc::onnx {

/// Returns the permutations from [N, C, i…] to channels-last, and back.
Extents channelsLast(int64_t rank);
Extents channelsFirst(int64_t rank);

/// Returns the kernel's extents from operand `weight`; attribute kernel_shape must match them.
mlir::FailureOr<Extents> weightKernel(NodeView &node, size_t weight);

/// Returns the number of channel groups.
int64_t groupCount(NodeView &node);

struct Convolution {
  int64_t group;
  Windows windows;

  using ReadWindows = mlir::FailureOr<Windows>(NodeView &, llvm::ArrayRef<int64_t>,
                                               llvm::ArrayRef<int64_t>);
  /// Reads the attributes for X of shape `input`, [N, C, …], and the kernel of operand `weight`.
  static mlir::FailureOr<Convolution> read(NodeView &node, ReadWindows readWindows,
                                           llvm::ArrayRef<int64_t> input, size_t weight = 1);
};

/// Checks that operands 0 and 1 have the same float type and rank (3 to 5).
mlir::LogicalResult checkConvolutionOperands(Inference &node);

/// Checks that operand 2, if present, is a vector of the type of operand 0 with one element per
/// channel. Constant zeros may have any shape: torch.onnx.export writes [channels, 2] for a Conv3d
/// without bias.
mlir::LogicalResult checkConvolutionBias(Inference &node, int64_t channels);

/// Returns whether operand 2 is a bias with one element per channel.
bool hasConvolutionBias(Conversion &node, int64_t channels);

/// Returns the shape [N, M, …] of the convolution of X, of shape `input` [N, C, …], and W [M, C /
/// group, kernel…], operand `weight`.
mlir::FailureOr<Extents> convolvedShape(Inference &node, llvm::ArrayRef<int64_t> input,
                                        size_t weight);

/// Builds the convolution of x [N, C, …] in channels-last layout, with a result of shape `result`,
/// [N, M, …].
mlir::FailureOr<mlir::Value> convolve(Conversion &node, mlir::Value x, mlir::Value weight,
                                      const Convolution &convolution,
                                      llvm::ArrayRef<int64_t> result);

/// Builds the transposed convolution: each element of x adds a window of weights to the result.
mlir::FailureOr<mlir::Value> convolveTransposed(Conversion &node, mlir::Value x, mlir::Value weight,
                                                const Convolution &convolution,
                                                llvm::ArrayRef<int64_t> result);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVOLUTION_H

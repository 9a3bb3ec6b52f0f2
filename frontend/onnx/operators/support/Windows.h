//===- Windows.h - Sliding windows of convolution and pooling ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_WINDOWS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_WINDOWS_H

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Window parameters, one entry per spatial axis.
struct Windows {
  Extents kernel;
  Extents strides;
  Extents dilations;
  Extents before; ///< Padding, with `auto_pad` resolved.
  Extents after;  ///< Padding as specified; with `ceil_mode` the last window may extend further.
  Extents output; ///< Number of windows.

  /// Returns [batch, channels, output…].
  Extents resultShape(int64_t batch, int64_t channels) const {
    Extents shape{batch, channels};
    llvm::append_range(shape, output);
    return shape;
  }
};

/// Reads the windows of Conv, MaxPool, AveragePool and LpPool over spatial extents `spatial` from
/// the attributes strides, dilations, pads, auto_pad and ceil_mode. Fails with a diagnostic at the
/// node if they do not fit.
///
/// output = ⌊(extent + before + after − (dilation · (kernel − 1) + 1)) / stride⌋ + 1, rounded up
/// with ceil_mode unless the last window would start in the padding at the end.
mlir::FailureOr<Windows> readWindows(NodeView &node, llvm::ArrayRef<int64_t> spatial,
                                     llvm::ArrayRef<int64_t> kernel);

/// Reads the windows of ConvTranspose over spatial extents `spatial`, including attributes
/// output_padding and output_shape: output = stride · (extent − 1) + output_padding + dilation ·
/// (kernel − 1) + 1 − before − after. `after` is negative if output_shape extends beyond the
/// windows; the elements there are 0.
mlir::FailureOr<Windows> readTransposedWindows(NodeView &node, llvm::ArrayRef<int64_t> spatial,
                                               llvm::ArrayRef<int64_t> kernel);

/// Fails with a diagnostic if a tensor of this shape has more elements than can be addressed.
mlir::LogicalResult checkAddressable(NodeView &node, llvm::ArrayRef<int64_t> shape);

/// Returns the windows over the trailing spatial axes of `x` as `mtc.windows`, padded with `fill`.
/// Fails with a diagnostic at the node if the result is too large to address.
mlir::FailureOr<mlir::Value> slide(NodeView &node, TensorBuilder &b, mlir::Value x,
                                   const Windows &windows, double fill);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_WINDOWS_H

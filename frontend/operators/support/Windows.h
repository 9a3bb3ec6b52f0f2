//===- Windows.h - The sliding windows of convolutions and pooling ----------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_WINDOWS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_WINDOWS_H

#include "frontend/dialect/Node.h"
#include "frontend/dialect/Shapes.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// One entry for each spatial axis.
struct Windows {
  Extents kernel;
  Extents strides;
  Extents dilations;
  Extents before; ///< Padding, `auto_pad` resolved.
  Extents after;  ///< As written; with `ceil_mode` the last window may reach further.
  Extents output; ///< Number of windows.

  /// [batch, channels, output…].
  Extents resultShape(int64_t batch, int64_t channels) const {
    Extents shape{batch, channels};
    llvm::append_range(shape, output);
    return shape;
  }
};

/// Windows of Conv, MaxPool, AveragePool and LpPool over an operand of spatial extents `spatial`,
/// from the attributes strides, dilations, pads, auto_pad and ceil_mode. Failure, reported at the
/// node, where they do not fit.
///
/// output = ⌊(extent + before + after − (dilation · (kernel − 1) + 1)) / stride⌋ + 1, rounded up
/// with ceil_mode unless the last window would start in the padding at the end.
mlir::FailureOr<Windows> readWindows(NodeView &node, llvm::ArrayRef<int64_t> spatial,
                                     llvm::ArrayRef<int64_t> kernel);

/// Windows of ConvTranspose over spatial extents `spatial`; attributes output_padding and
/// output_shape too: output = stride · (extent − 1) + output_padding + dilation · (kernel − 1) + 1
/// − before − after. `after` is negative where output_shape asks for more than the windows reach:
/// what they do not reach is 0.
mlir::FailureOr<Windows> readTransposedWindows(NodeView &node, llvm::ArrayRef<int64_t> spatial,
                                               llvm::ArrayRef<int64_t> kernel);

/// Reports a tensor of more elements than can be addressed.
mlir::LogicalResult checkAddressable(NodeView &node, llvm::ArrayRef<int64_t> shape);

/// The windows over the spatial axes of `x`, which are its last, as `mtc.windows` gives them; the
/// padding is `fill`. Failure, reported at the node, where they are too many.
mlir::FailureOr<mlir::Value> slide(NodeView &node, TensorBuilder &b, mlir::Value x,
                                   const Windows &windows, double fill);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_WINDOWS_H

//===- LayoutPasses.td - Layout passes ------------------------------------------------------------===//

#ifndef MTC_PASSES_LAYOUT_PASSES
#define MTC_PASSES_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def KeepChannelsLast : Pass<"mtc-keep-channels-last", "::mlir::func::FuncOp"> {
  let summary = "sink transposes to keep channels last between convolutions";
  let description = [{
    Convolutions use tensors with channels as the last axis (the trait `ChannelsLast`), while models have channels as the second
    axis, so that each convolution is surrounded by transposes. The pass sinks the transpose after a convolution through its users
    that can be computed on the transposed operand (`TransposableOpInterface`). A transpose stops at its inverse, at operations
    that remove the permuted axes, or before an operation that requires the model's axis order.

    ```mlir
    %y = mtc.transpose %c [0, 3, 1, 2] : tensor<8x4x4x16xf32> -> tensor<8x16x4x4xf32>
    %z = mtc.tanh %y : tensor<8x16x4x4xf32>
    // becomes
    %y = mtc.tanh %c : tensor<8x4x4x16xf32>
    %z = mtc.transpose %y [0, 3, 1, 2] : tensor<8x4x4x16xf32> -> tensor<8x16x4x4xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_LAYOUT_PASSES

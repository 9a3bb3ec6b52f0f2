//===- LayoutPasses.td - In which order values have their axes ------------------------------------===//

#ifndef MTC_PASSES_LAYOUT_PASSES
#define MTC_PASSES_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def KeepChannelsLast : Pass<"mtc-keep-channels-last", "::mlir::func::FuncOp"> {
  let summary = "sink transposes to keep channels last between convolutions";
  let description = [{
    Convolutions take and give tensors with channels as their last axis (the trait `ChannelsLast`); a model has them as its
    second, so that transposes are around each. What reads the one behind a convolution is computed on its operand instead,
    where the operation can be (`TransposableOpInterface`), and the transpose follows it: it ends where it meets its inverse,
    where axes vanish, or in front of an operation that needs the order that the model says.

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

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

def PadContractions : Pass<"mtc-pad-contractions", "::mlir::func::FuncOp"> {
  let summary = "pad contractions whose rows the library cannot load in whole vectors";
  let description = [{
    Libraries of GPUs compute contractions several times faster if all rows begin at multiples of 16 bytes and have whole vectors,
    which a vocabulary of 50257 words prevents. The pass makes the last axis of such a contraction's result longer, and with it that
    axis of all values that elementwise operations, reshapes and reductions compute from the result, up to other contractions.
    Operands of these contractions get zeros. Elements past the original extent are unspecified; reductions along the axis and
    contractions read a neutral element instead.

    A contraction is padded if the target's estimate of its time falls by a tenth or more, and if no operation other than a kernel
    needs a large value in its original extent. The padded operand is a copy: of GPT-2's vocabulary, for example, of 77 MB in bf16.

    ```mlir
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<64x32xbf16>, tensor<1001x32xbf16> -> tensor<64x1001xbf16>
    %e = mtc.exp %y : tensor<64x1001xbf16>
    // becomes
    %p = mtc.pad %w low [0, 0] high [7, 0] … : tensor<1001x32xbf16> -> tensor<1008x32xbf16>
    %y = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<64x32xbf16>, tensor<1008x32xbf16> -> tensor<64x1008xbf16>
    %e = mtc.exp %y : tensor<64x1008xbf16>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_LAYOUT_PASSES

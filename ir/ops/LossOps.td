//===- LossOps.td - Losses with fused algorithms ------------------------------------------------===//

#ifndef MTC_IR_LOSS_OPS
#define MTC_IR_LOSS_OPS

include "ir/MtcBase.td"

def SoftmaxCrossEntropyOp : Mtc_ValueOp<"softmax_cross_entropy",
    [Mtc_Gradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "cross-entropy of logits with integer labels, for each target";
  let description = [{
        loss[i] = log(sum over c of e^logits[i, c]) - logits[i, labels[i]]

    and 0 if the label is `ignore`. Any other label outside the classes terminates the run with an error that names the node. The
    row's maximum is subtracted before the exponentials are summed. The gradient, (softmax - onehot) * dloss, is computed
    elementwise from the logits and two values per row.

    ```mlir
    %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
    ```

    * softmax_cross_entropy_c1: labels and result have the logits' extents without the last axis, the classes.
  }];
  let arguments = (ins Mtc_FloatTensor:$logits, Mtc_IntegerTensor:$labels, I64Attr:$ignore);
  let results = (outs Mtc_FloatTensor:$loss);
  let assemblyFormat = [{
    $logits `,` $labels `ignore` $ignore attr-dict `:` type($logits) `,` type($labels) `->` type($loss)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
  }];
}

#endif // MTC_IR_LOSS_OPS

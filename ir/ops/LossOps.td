//===- LossOps.td - Losses whose algorithm is better than their parts ---------------------------===//

#ifndef MTC_IR_LOSS_OPS
#define MTC_IR_LOSS_OPS

include "ir/MtcBase.td"

def SoftmaxCrossEntropyOp : Mtc_ValueOp<"softmax_cross_entropy",
    [Mtc_Gradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "minus the logarithm of the label's softmax probability, for each target";
  let description = [{
        loss[i] = log(sum over c of e^logits[i, c]) - logits[i, labels[i]]

    and 0 where the label is `ignore`. Any other label outside the classes ends the run with an error that names the
    node. The logarithm of the sum is taken after subtracting the row's maximum. The
    gradient, (softmax - onehot) * dloss, is elementwise in the logits and two numbers of the row.

    ```mlir
    %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
    ```

    * softmax_cross_entropy_c1: the labels have the logits' extents but for the last, the classes; so has the result.
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

//===- AttentionPasses.td - Recognition of attention ----------------------------------------===//

#ifndef MTC_PASSES_ATTENTION
#define MTC_PASSES_ATTENTION

include "mlir/Pass/PassBase.td"

def RecognizeAttention : Pass<"mtc-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "recognize attention";
  let description = [{
    Finds contractions of queries and keys whose rows pass through a softmax into contractions with values, as exporters write
    attention, and replaces each match by one `mtc.attention`, whose memory is linear in the sequence length. Scales, additive
    biases and selections of -inf may be between the first contraction and the softmax. Masks that exclude only later keys
    become `causal`, which is proven from the mask's data or from the comparison of positions that computes it. Scales of
    queries or keys, and the repetition of keys and values over groups of heads, are folded into the operation. A row whose
    scores are all -inf yields zeros, where a plain softmax would yield NaN. Masks of existing `mtc.attention` operations are
    simplified in the same way.

    Patterns that resemble attention but cannot be replaced emit a remark with the reason (`mtc compile --remarks FILE`,
    category `mtc-recognize-attention`). The function's attribute `mtc.attention` records the number of recognized patterns
    and the reason for each of the others.

    ```mlir
    %s = mtc.contract %q, %k batch [0, 1] x [0, 1] over [3] x [3] : …
    %x = mtc.mul %s, %scale : tensor<2x4x8x8xf32>
    …softmax of %x along axis 3…
    %y = mtc.contract %p, %v batch [0, 1] x [0, 1] over [3] x [2] : …
    ```
    becomes
    ```mlir
    %y, %sums = mtc.attention %q, %k, %v scale 0.125 : …
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_ATTENTION

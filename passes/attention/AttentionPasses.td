//===- AttentionPasses.td - Attention found in its parts ------------------------------------===//

#ifndef MTC_PASSES_ATTENTION
#define MTC_PASSES_ATTENTION

include "mlir/Pass/PassBase.td"

def RecognizeAttention : Pass<"mtc-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "recognize attention";
  let description = [{
    Finds products of queries and keys whose rows go through a softmax into products with values, as exporters write
    attention, and replaces them by one `mtc.attention`, whose memory is linear in the sequence's length. Between the
    first product and the softmax there may be scales, additive biases and selections of -inf, of which those that only
    leave out later keys become `causal`: that is proven from a mask's data, or from the comparison of positions that
    computes it. A scale on queries or keys, and keys and values that are repeated for groups of heads, become the
    operation's own. A row whose scores are all -inf gives zeros, where a plain softmax would give NaN. Of the mask of an
    `mtc.attention` that is one already, a causal part is proven in the same way.

    What looks like attention and stays decomposed gives a remark with the reason (`mtc compile --remarks FILE`, category
    `mtc-recognize-attention`). The function's attribute `mtc.attention` says how many were recognized, and lists those
    that were not.

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

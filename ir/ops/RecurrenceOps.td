//===- RecurrenceOps.td - Recurrent layers and their gradients ------------------------------------===//

#ifndef MTC_IR_RECURRENCE_OPS
#define MTC_IR_RECURRENCE_OPS

include "ir/MtcBase.td"

// Both operations overwrite their first operand if it has no other use.
class Mtc_RecurrenceOp<string mnemonic, list<Trait> traits>
    : Mtc_ValueOp<mnemonic, !listconcat([
        AttrSizedOperandSegments, SameOperandsAndResultElementType,
        DeclareOpInterfaceMethods<DecomposableOpInterface, ["refuseDecomposition"]>,
        DeclareOpInterfaceMethods<EpilogueOpInterface>,
        DeclareOpInterfaceMethods<LibraryCallOpInterface, ["isLibraryCall"]>], traits)> {
  let hasVerifier = 1;
  // The rounding errors of a step affect all later steps.
  let extraClassDeclaration = rangeSensitive # [{
    ::mtc::Cost getCost();
  }];
}

def RecurrenceOp : Mtc_RecurrenceOp<"recurrence", [Mtc_Gradient]> {
  let summary = "all steps of one direction of a recurrent layer";
  let description = [{
    `gates` has the pre-activations x[t] that the inputs and biases contribute in step t: a contraction over all steps. Each step
    adds the contribution of the previous step's state h', which is `state` for the first step. With R = weights, s = h' . R^T, and
    the gates in the order of their rows in R:

        lstm               i, o, f = logistic(x + s), g = tanh(x + s), c = f * c' + i * g, h = o * tanh(c)
        gru                z, r = logistic(x + s), n = tanh(x + (r * h') . R_n^T), h = (1 - z) * n + z * h'
        gru_reset_after    z, r = logistic(x + s), n = tanh(x + r * (s + bias)), h = (1 - z) * n + z * h'
        tanh, relu         h = tanh(x + s), h = relu(x + s)

    `states` has h of all steps. The other results are saved for the gradient: `activations` has the values of the gates, and
    `auxiliary` has c (lstm), r * h' (gru) or s + bias of the candidate n (gru_reset_after). Cotangents of `states`, and of `auxiliary`
    of an lstm, are propagated; those of other saved values are not. With `reversed`, the first step has the last index.

    ```mlir
    %a, %h, %c = mtc.recurrence lstm %x, %r from %h0 cell %c0
      : (tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
        -> (tensor<5x2x12xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>)
    ```

    * recurrence_c1: gates is [T, B, G * H] with at least one step, weights [G * H, H] for the G gates of the kind, state [B, H].
    * recurrence_c2: only lstm has a cell, [B, H]; only gru_reset_after has a bias, [H].
    * recurrence_c3: activations is [T, B, G * H], states [T, B, H]; lstm, gru and gru_reset_after have an auxiliary result, [T, B, H].
  }];
  let arguments = (ins Mtc_RecurrentCellAttr:$kind, Mtc_FloatTensor:$gates, Mtc_FloatTensor:$weights, Mtc_FloatTensor:$state,
                       Optional<Mtc_FloatTensor>:$cell, Optional<Mtc_FloatTensor>:$bias, UnitAttr:$reversed);
  let results = (outs Mtc_FloatTensor:$activations, Mtc_FloatTensor:$states, Optional<Mtc_FloatTensor>:$auxiliary);
  let assemblyFormat = [{
    $kind $gates `,` $weights `from` $state (`cell` $cell^)? (`bias` $bias^)? (`reversed` $reversed^)?
      attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = rangeSensitive # [{
    ::mtc::Cost getCost();
    /// The maximum number of steps that can be decomposed and compiled in reasonable time.
    static constexpr int64_t maxDecomposedSteps = 512;
    /// Returns the number of gates of a kind of cell.
    static int64_t gatesOf(::mtc::RecurrentCell kind);
    /// Returns whether a kind of cell has an auxiliary result.
    static bool hasAuxiliary(::mtc::RecurrentCell kind);
  }];
}

def RecurrenceGradientOp : Mtc_RecurrenceOp<"recurrence_gradient", [Mtc_NoGradient, AttrSizedResultSegments]> {
  let summary = "gradient of a recurrent layer, step by step in reverse order";
  let description = [{
    The gradient of `mtc.recurrence` from the cotangents of `states` and, of an lstm, of `auxiliary`. The steps are processed in
    reverse order. `d_candidate` is the gradient of s + bias of the candidate of gru_reset_after. Contractions of `d_gates` over all
    steps compute the gradient of the weights.

    ```mlir
    %dx, %dh, %dc = mtc.recurrence_gradient lstm %a, %r of %h auxiliary %c from %h0 cell %c0 at %d
      : tensor<5x2x12xf32>, tensor<12x3xf32>, tensor<5x2x3xf32>, tensor<5x2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
        tensor<5x2x3xf32> -> tensor<5x2x12xf32>, tensor<2x3xf32> cell tensor<2x3xf32>
    ```

    * recurrence_c1: see `mtc.recurrence`, for activations instead of gates.
    * recurrence_gradient_c1: states and d_states are [T, B, H], and so is auxiliary of lstm, gru and gru_reset_after; only lstm has
      a cell, [B, H], and may have d_auxiliary, [T, B, H].
    * recurrence_gradient_c2: d_gates is [T, B, G * H], d_state [B, H]; only lstm has d_cell, [B, H], and only gru_reset_after has
      d_candidate, [T, B, H].
  }];
  let arguments = (ins Mtc_RecurrentCellAttr:$kind, Mtc_FloatTensor:$activations, Mtc_FloatTensor:$weights,
                       Mtc_FloatTensor:$states, Optional<Mtc_FloatTensor>:$auxiliary, Mtc_FloatTensor:$state,
                       Optional<Mtc_FloatTensor>:$cell, Mtc_FloatTensor:$d_states, Optional<Mtc_FloatTensor>:$d_auxiliary,
                       UnitAttr:$reversed);
  let results = (outs Mtc_FloatTensor:$d_gates, Mtc_FloatTensor:$d_state, Optional<Mtc_FloatTensor>:$d_cell,
                      Optional<Mtc_FloatTensor>:$d_candidate);
  let assemblyFormat = [{
    $kind $activations `,` $weights `of` $states (`auxiliary` $auxiliary^)? `from` $state (`cell` $cell^)? `at` $d_states
      (`,` $d_auxiliary^)? (`reversed` $reversed^)? attr-dict `:` type(operands) `->` type($d_gates) `,` type($d_state)
      (`cell` type($d_cell)^)? (`candidate` type($d_candidate)^)?
  }];
}

#endif // MTC_IR_RECURRENCE_OPS

//===- AttentionOps.td - Attention and its gradient ---------------------------------------------===//

#ifndef MTC_IR_ATTENTION_OPS
#define MTC_IR_ATTENTION_OPS

include "ir/MtcBase.td"

class Mtc_AttentionOp<string mnemonic, list<Trait> traits>
    : Mtc_ValueOp<mnemonic, !listconcat([
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<LibraryCallOpInterface, ["isLibraryCall", "buildTransposed"]>], traits)> {
  // Both operations start with these operands.
  dag common = (ins Mtc_FloatTensor:$query, Mtc_FloatTensor:$key, Mtc_FloatTensor:$value, Optional<Mtc_FloatTensor>:$bias,
                    Optional<Mtc_BoolTensor>:$mask);
  let hasVerifier = 1;
  code common_declarations = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::Contraction; }
    ::mtc::Cost getCost();
  }];
  // The logsumexp of a row of scores has the range of the scores and is stored in f32.
  code forward_declarations = common_declarations # [{
    bool acceptsResultType(unsigned result, ::mlir::Type operands, ::mlir::Type stored) {
      return result == 0 ? stored == operands : stored.isF32();
    }
  }];
}

def AttentionOp : Mtc_AttentionOp<"attention", [Mtc_Gradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "scaled dot-product attention";
  let description = [{
    For each batch entry b, head h and query i, with head g = h * G / H of the G heads of keys:

        score[j] = scale * (query[b, h, i] . key[b, g, j]) + bias[b, h, i, j]
        logsumexp[b, h, i] = log(sum over j of e^score[j])
        out[b, h, i] = sum over j of e^(score[j] - logsumexp[b, h, i]) * value[b, g, j]

    over the keys j with a mask that is absent or true and, where `causal` is given, with j <= i + causal. A row without keys, or
    with only -inf scores, has out = 0 and logsumexp = +inf. The score matrix is never materialized.

    ```mlir
    %o, %s = mtc.attention %q, %k, %v mask %m causal 0 scale 0.125
      : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x1x1x8xi1>)
        -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
    ```

    * attention_c1: query is [B, H, M, D], key [B, G, N, D], value [B, G, N, E]; G divides H.
    * attention_c2: bias and mask are [B, H, M, N], where each of B, H and M may be 1.
    * attention_c3: out is [B, H, M, E], logsumexp [B, H, M].
    * attention_c4: floats have one element type; logsumexp is f32 if that type is narrower.
  }];
  let arguments = !con(common, (ins OptionalAttr<I64Attr>:$causal, F64Attr:$scale));
  let results = (outs Mtc_FloatTensor:$out, Mtc_FloatTensor:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? (`causal` $causal^)? `scale` $scale
      attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = forward_declarations;
}

def PermutedAttentionOp : Mtc_AttentionOp<"permuted_attention", [Mtc_NoGradient]> {
  let summary = "attention with a result whose axes are permuted";
  let description = [{
    Computes `mtc.attention` with a permuted result: axis i of `out` is axis `out_order`[i] of [batch, heads, queries, width].
    `mtc-prepare-calls` creates this operation.

    ```mlir
    %o, %s = mtc.permuted_attention %q, %k, %v scale 0.125 order [0, 2, 1, 3]
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```

    * attention_c1, attention_c2, attention_c4: see `mtc.attention`.
    * permuted_attention_c1: the order is a permutation that keeps the last axis; out has the corresponding extents, logsumexp has
      [B, H, M].
  }];
  let arguments = !con(common, (ins OptionalAttr<I64Attr>:$causal, F64Attr:$scale, DenseI64ArrayAttr:$out_order));
  let results = (outs Mtc_FloatTensor:$out, Mtc_FloatTensor:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? (`causal` $causal^)? `scale` $scale `order` $out_order
      attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = forward_declarations;
}

def AttentionGradientOp
    : Mtc_AttentionOp<"attention_gradient", [Mtc_NoGradient, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "gradients of attention by query, key and value";
  let description = [{
    With the weights p[j] = e^(score[j] - logsumexp[b, h, i]) of `mtc.attention`, recomputed from the scores:

        dp[j] = d_out[b, h, i] . value[b, g, j]
        ds[j] = p[j] * (dp[j] - offsets[b, h, i])
        d_query[b, h, i] = scale * sum over j of ds[j] * key[b, g, j]
        d_key[b, g, j] = scale * sum over h, i of ds[j] * query[b, h, i]
        d_value[b, g, j] = sum over h, i of p[j] * d_out[b, h, i]

    `offsets` is out . d_out minus the cotangent of `logsumexp`. `out` is passed if that cotangent is 0 and elements are narrower than f32,
    for libraries that compute the offsets themselves. Each result has its axes permuted by its order, as `out_order` of
    `mtc.permuted_attention` does.

    ```mlir
    %dq, %dk, %dv = mtc.attention_gradient %q, %k, %v causal 0 scale 0.125 of %s, %o, %d
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>,
         tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
    ```

    * attention_c1, attention_c2, attention_c4: see `mtc.attention`; the rule for logsumexp applies to offsets, too.
    * attention_gradient_c1: logsumexp and offsets are [B, H, M], d_out and out [B, H, M, E]; each order is a permutation that
      keeps the last axis; the results have the extents of query, key and value in their orders.
  }];
  let arguments = !con(common, (ins Mtc_FloatTensor:$logsumexp, Mtc_FloatTensor:$offsets, Mtc_FloatTensor:$d_out,
                                Optional<Mtc_FloatTensor>:$out,
                                OptionalAttr<I64Attr>:$causal, F64Attr:$scale,
                                DefaultValuedAttr<DenseI64ArrayAttr, "{0, 1, 2, 3}">:$query_order,
                                DefaultValuedAttr<DenseI64ArrayAttr, "{0, 1, 2, 3}">:$key_order,
                                DefaultValuedAttr<DenseI64ArrayAttr, "{0, 1, 2, 3}">:$value_order));
  let results = (outs Mtc_FloatTensor:$d_query, Mtc_FloatTensor:$d_key, Mtc_FloatTensor:$d_value);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? (`causal` $causal^)? `scale` $scale
      `of` $logsumexp `,` $offsets `,` $d_out (`out` $out^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = common_declarations # [{
    bool acceptsOperandType(unsigned operand, ::mlir::Type stored) {
      ::mlir::Value value = getOperation()->getOperand(operand);
      return stored.isF32() || (value != getLogsumexp() && value != getOffsets());
    }
  }];
}

#endif // MTC_IR_ATTENTION_OPS

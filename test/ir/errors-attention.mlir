// One violation of each constraint of AttentionOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @attention_c1(%q: tensor<2x3x8x16xf32>, %k: tensor<2x2x8x16xf32>) {
  // expected-error @below {{query, key and value have extents [2, 3, 8, 16], [2, 2, 8, 16] and [2, 2, 8, 16], expected [B, H, M, D], [B, G, N, D] and [B, G, N, E] with H a multiple of G (attention_c1)}}
  %o, %s = mtc.attention %q, %k, %k scale 1.0
    : (tensor<2x3x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> (tensor<2x3x8x16xf32>, tensor<2x3x8xf32>)
  return
}

// -----

func.func @attention_c2(%q: tensor<2x2x8x16xf32>, %m: tensor<2x2x8x4xi1>) {
  // expected-error @below {{bias or mask has extents [2, 2, 8, 4], expected [2, 2, 8, 8], of which the first three may be 1 (attention_c2)}}
  %o, %s = mtc.attention %q, %q, %q mask %m scale 1.0
    : (tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x4xi1>)
      -> (tensor<2x2x8x16xf32>, tensor<2x2x8xf32>)
  return
}

// -----

func.func @attention_c3(%q: tensor<2x4x8x16xf32>) {
  // expected-error @below {{out and logsumexp have extents [2, 8, 4, 16] and [2, 4, 8], expected [2, 4, 8, 16] in the order [0, 1, 2, 3] and [2, 4, 8] (attention_c3)}}
  %o, %s = mtc.attention %q, %q, %q scale 1.0
    : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @permuted_attention_c1(%q: tensor<2x4x8x16xf32>) {
  // expected-error @below {{out and logsumexp have extents [2, 4, 8, 16] and [2, 4, 8], expected [2, 4, 8, 16] in the order [0, 2, 1, 3] and [2, 4, 8] (permuted_attention_c1)}}
  %o, %s = mtc.permuted_attention %q, %q, %q scale 1.0 order [0, 2, 1, 3]
    : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_c4(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf64>) {
  // expected-error @below {{has elements 'f64' where 'f32' is expected (attention_c4)}}
  %o, %s = mtc.attention %q, %k, %k scale 1.0
    : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf64>, tensor<2x4x8x16xf64>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_c4_logsumexp(%q: tensor<2x4x8x16xbf16>) {
  // expected-error @below {{has elements 'bf16' where 'f32' is expected (attention_c4)}}
  %o, %s = mtc.attention %q, %q, %q scale 1.0
    : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>) -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xbf16>)
  return
}

// -----

func.func @attention_gradient_c1_out(%q: tensor<2x4x8x16xbf16>, %s: tensor<2x4x8xf32>, %o: tensor<2x8x4x16xbf16>) {
  // expected-error @below {{expected logsumexp, offsets, d_out and out with the extents of rows, [2, 4, 8], and each result with the extents of its operand, in its order (attention_gradient_c1)}}
  %dq, %dk, %dv = mtc.attention_gradient %q, %q, %q scale 1.0 of %s, %s, %q out %o
    : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>, tensor<2x4x8xf32>,
       tensor<2x4x8x16xbf16>, tensor<2x8x4x16xbf16>)
      -> (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>)
  return
}

// -----

func.func @attention_gradient_c1(%q: tensor<2x4x8x16xf32>, %s: tensor<2x4x7xf32>) {
  // expected-error @below {{expected logsumexp, offsets, d_out and out with the extents of rows, [2, 4, 8], and each result with the extents of its operand, in its order (attention_gradient_c1)}}
  %dq, %dk, %dv = mtc.attention_gradient %q, %q, %q scale 1.0 of %s, %s, %q
    : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x7xf32>, tensor<2x4x7xf32>,
       tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return
}

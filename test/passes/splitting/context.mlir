// RUN: mtc-opt %s -split-input-file -mtc-split-axes | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-split-axes 2>&1 | FileCheck %s --check-prefix=NOTE

// Tokens are divided, and heads within attention: each rank exchanges its tokens for whole sequences of some heads. Weights are whole.
// NOTE: remark: --context 2: axis 1 of 'x', and with it 100 % of the floating-point operations of contractions, are divided
// CHECK-LABEL: mtc.program "attention"
// CHECK: mtc.variable parameter @q : tensor<64x64xf32> =
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.own_piece %{{.*}} ranks 2 : {{.*}} -> tensor<1024xf32>
// CHECK: mtc.contract %{{.*}} : tensor<1x16x64xf32>, tensor<64x64xf32> -> tensor<1x16x64xf32>
// CHECK: %[[Q:.*]] = mtc.reshard %{{.*}} from <axis = 2, parts = 2> to <axis = 1, parts = 2> : tensor<1x4x16x16xf32> -> tensor<1x2x32x16xf32>
// CHECK: %[[O:.*]], %{{.*}} = mtc.attention %[[Q]], %[[Q]], %[[Q]] causal 0 {{.*}} : (tensor<1x2x32x16xf32>
// CHECK: mtc.reshard %[[O]] from <axis = 1, parts = 2> to <axis = 2, parts = 2> : tensor<1x2x32x16xf32> -> tensor<1x4x16x16xf32>
// CHECK: mtc.contract %{{.*}} : tensor<1x16x64xf32>, tensor<64x64xf32> -> tensor<1x16x64xf32>
// A gradient is a sum over tokens.
// CHECK: mtc.contract %{{.*}} over [0, 1] x [0, 1] : tensor<1x16x64xf32>, tensor<1x16x64xf32> -> tensor<64x64xf32>
// CHECK: mtc.partial %{{.*}} -> tensor<64x64xf32, #mtc.partial<add, ranks = 2>>
// CHECK: mtc.all_reduce
mtc.program "attention" stage training batch 1 ranks <count = 2, context_ranks = 2> {
  mtc.input "x"
}
mtc.variable parameter @q : tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @o : tensor<64x64xf32> = #mtc.zeros
mtc.variable gradient @o.grad : tensor<64x64xf32> = #mtc.zeros of @o
func.func @micro_step(%x: tensor<1x32x64xf32> {mtc.name = "x"}) {
  %wq = mtc.read @q : tensor<64x64xf32>
  %p = mtc.contract %x, %wq batch [] x [] over [2] x [0] : tensor<1x32x64xf32>, tensor<64x64xf32> -> tensor<1x32x64xf32>
  %h = mtc.reshape %p : tensor<1x32x64xf32> -> tensor<1x32x4x16xf32>
  %q = mtc.transpose %h [0, 2, 1, 3] : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %a, %s = mtc.attention %q, %q, %q causal 0 scale 0.25
    : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32xf32>)
  %b = mtc.transpose %a [0, 2, 1, 3] : tensor<1x4x32x16xf32> -> tensor<1x32x4x16xf32>
  %c = mtc.reshape %b : tensor<1x32x4x16xf32> -> tensor<1x32x64xf32>
  %wo = mtc.read @o : tensor<64x64xf32>
  %y = mtc.contract %c, %wo batch [] x [] over [2] x [0] : tensor<1x32x64xf32>, tensor<64x64xf32> -> tensor<1x32x64xf32>
  %dw = mtc.contract %c, %y batch [] x [] over [0, 1] x [0, 1] : tensor<1x32x64xf32>, tensor<1x32x64xf32> -> tensor<64x64xf32>
  mtc.write @o.grad, %dw : tensor<64x64xf32>
  return
}

// -----

// Layers are divided within a rank's part of the sequences. The heads of a rank of a tensor group are the same as without --context.
// CHECK-LABEL: mtc.program "both"
// CHECK: mtc.variable parameter @q : tensor<64x32xf32> part of tensor<64x64xf32> along <axis = 1, parts = 2>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.contract %{{.*}} : tensor<1x16x64xf32>, tensor<64x32xf32> -> tensor<1x16x32xf32>
// CHECK: mtc.reshard %{{.*}} from <axis = 2, parts = 2, stride = 2> to <axis = 1, parts = 2, stride = 2> : tensor<1x2x16x16xf32> -> tensor<1x1x32x16xf32>
mtc.program "both" stage training batch 1 ranks <count = 4, tensor = 2, context_ranks = 2> {
  mtc.input "x"
}
mtc.variable parameter @q : tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @o : tensor<64x64xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<1x32x64xf32> {mtc.name = "x"}) -> tensor<1x32x64xf32> {
  %wq = mtc.read @q : tensor<64x64xf32>
  %p = mtc.contract %x, %wq batch [] x [] over [2] x [0] : tensor<1x32x64xf32>, tensor<64x64xf32> -> tensor<1x32x64xf32>
  %h = mtc.reshape %p : tensor<1x32x64xf32> -> tensor<1x32x4x16xf32>
  %q = mtc.transpose %h [0, 2, 1, 3] : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %a, %s = mtc.attention %q, %q, %q causal 0 scale 0.25
    : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32xf32>)
  %b = mtc.transpose %a [0, 2, 1, 3] : tensor<1x4x32x16xf32> -> tensor<1x32x4x16xf32>
  %c = mtc.reshape %b : tensor<1x32x4x16xf32> -> tensor<1x32x64xf32>
  %wo = mtc.read @o : tensor<64x64xf32>
  %y = mtc.contract %c, %wo batch [] x [] over [2] x [0] : tensor<1x32x64xf32>, tensor<64x64xf32> -> tensor<1x32x64xf32>
  return %y : tensor<1x32x64xf32>
}

// -----

// A contraction of 16-bit values returns its accumulators if one user computes in f32: fusion with it must not decide whether they are rounded.
// The result of a contraction with several users is stored, and f32 would need twice the memory.
// CHECK-LABEL: mtc.program "narrow"
// CHECK: mtc.contract %{{.*}} : tensor<2x4x16xbf16>, tensor<16x16xbf16> -> tensor<2x4x16xf32>
// CHECK: mtc.contract %{{.*}} : tensor<2x4x16xbf16>, tensor<16x16xbf16> -> tensor<2x4x16xbf16>
// CHECK: mtc.contract %{{.*}} : tensor<2x4x16xbf16>, tensor<16x16xbf16> -> tensor<2x4x16xbf16>
mtc.program "narrow" stage training batch 2 ranks <count = 2, context_ranks = 2> {
  mtc.input "x"
}
mtc.variable parameter @w : tensor<16x16xbf16> = #mtc.zeros
func.func @micro_step(%x: tensor<2x8x16xbf16> {mtc.name = "x"}) -> (tensor<2x8x16xf32>, tensor<2x8x16xbf16>, tensor<2x8x16xf32>) {
  %w = mtc.read @w : tensor<16x16xbf16>
  %y = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xbf16>
  %wide = mtc.cast %y as storage : tensor<2x8x16xbf16> -> tensor<2x8x16xf32>
  %e = mtc.exp %wide : tensor<2x8x16xf32>
  %z = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xbf16>
  %u = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<2x8x16xbf16>, tensor<16x16xbf16> -> tensor<2x8x16xbf16>
  %first = mtc.cast %u as storage : tensor<2x8x16xbf16> -> tensor<2x8x16xf32>
  %second = mtc.cast %u as storage : tensor<2x8x16xbf16> -> tensor<2x8x16xf32>
  %f = mtc.exp %first : tensor<2x8x16xf32>
  %g = mtc.mul %f, %second : tensor<2x8x16xf32>
  return %e, %z, %g : tensor<2x8x16xf32>, tensor<2x8x16xbf16>, tensor<2x8x16xf32>
}

// -----

// All heads of queries read one head of keys, which is repeated for each rank. Its gradient is the sum of those of the ranks.
// CHECK-LABEL: mtc.program "one_key_head"
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.attention_gradient {{.*}} : (tensor<1x2x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>,
// CHECK: mtc.reshard %{{.*}} from <axis = 1, parts = 2> to <axis = 2, parts = 2> : tensor<1x1x8x16xf32> -> tensor<1x2x4x16xf32>
// CHECK: mtc.reduce add %{{.*}} axes [2] : tensor<1x1x2x4x16xf32> -> tensor<1x1x4x16xf32>
mtc.program "one_key_head" stage training batch 1 ranks <count = 2, context_ranks = 2> {
  mtc.input "q"
}
func.func @micro_step(%q: tensor<1x4x8x16xf32> {mtc.name = "other"}, %x: tensor<1x8x4x16xf32> {mtc.name = "q"}, %k: tensor<1x1x8x16xf32> {mtc.name = "k"},
                      %s: tensor<1x4x8xf32> {mtc.name = "s"}) -> (tensor<1x4x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) {
  %query = mtc.transpose %x [0, 2, 1, 3] : tensor<1x8x4x16xf32> -> tensor<1x4x8x16xf32>
  %dq, %dk, %dv = mtc.attention_gradient %query, %k, %k causal 0 scale 0.25 of %s, %s, %q
    : (tensor<1x4x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8x16xf32>)
      -> (tensor<1x4x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>)
  return %dq, %dk, %dv : tensor<1x4x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>
}

// RUN: mtc-opt %s -split-input-file -mtc-split-axes=ranks=2 -mtc-exchange-partials | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-split-axes=chunks=4 -mtc-exchange-partials | FileCheck %s --check-prefix=CHUNKS

// The hidden features are divided: the columns of the first matrix and the rows of the second. Each rank has an addend of the result.
// CHECK: mtc.variable parameter @w1 : tensor<16x32xf32> part of tensor<16x64xf32> along <axis = 1, parts = 2>
// CHECK: mtc.variable parameter @b1 : tensor<32xf32> part of tensor<64xf32> along <axis = 0, parts = 2>
// CHECK: mtc.variable parameter @w2 : tensor<32x16xf32> part of tensor<64x16xf32> along <axis = 0, parts = 2>
// CHECK-LABEL: func.func @micro_step(%{{.*}}: tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK: mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
// CHECK: mtc.tanh %{{.*}} : tensor<8x32xf32>
// CHECK: %[[OWN:.*]] = mtc.contract %{{.*}} : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[OWN]]
// CHECK: %[[ALL:.*]] = mtc.all_gather %[[FLAT]] ranks 2 {mtc.addends} : tensor<128xf32> -> tensor<2x128xf32>
// CHECK: mtc.add
// CHECK-NOT: mtc.all_gather
// CHECK: return

// One rank adds four parts of the contracted axis in a balanced tree, and divides nothing else.
// CHUNKS: mtc.variable parameter @w1 : tensor<16x64xf32> =
// CHUNKS-LABEL: func.func @micro_step
// CHUNKS: mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
// CHUNKS: %[[A:.*]] = mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
// CHUNKS: %[[B:.*]] = mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
// CHUNKS: %[[C:.*]] = mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
// CHUNKS: %[[D:.*]] = mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
// CHUNKS: mtc.all_gather %{{.*}} ranks 1 {mtc.addends}
// CHUNKS-COUNT-3: mtc.all_gather %{{.*}} ranks 1 {mtc.addends}
// CHUNKS: %[[AB:.*]] = mtc.add
// CHUNKS: %[[CD:.*]] = mtc.add
// CHUNKS: mtc.add %[[AB]], %[[CD]]
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @b1 : tensor<64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x16xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %b1 = mtc.read @b1 : tensor<64xf32>
  %bb = mtc.broadcast %b1 axes [0] : tensor<64xf32> -> tensor<8x64xf32>
  %hb = mtc.add %h, %bb : tensor<8x64xf32>
  %a = mtc.tanh %hb : tensor<8x64xf32>
  %w2 = mtc.read @w2 : tensor<64x16xf32>
  %y = mtc.contract %a, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// Heads are divided. The fused weight of queries, keys and values has the same part of each of its three blocks.
// CHECK: mtc.variable parameter @qkv : tensor<64x96xf32> part of tensor<64x192xf32> along <axis = 1, outer = 3, parts = 2>
// CHECK: mtc.variable parameter @out : tensor<32x64xf32> part of tensor<64x64xf32> along <axis = 0, parts = 2>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.slice %{{.*}} offsets [0, 32] strides [1, 1] : tensor<32x96xf32> -> tensor<32x32xf32>
// CHECK: mtc.attention {{.*}}(tensor<1x2x32x16xf32>, tensor<1x2x32x16xf32>, tensor<1x2x32x16xf32>)
mtc.variable parameter @qkv : tensor<64x192xf32> = #mtc.zeros
mtc.variable parameter @out : tensor<64x64xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %w = mtc.read @qkv : tensor<64x192xf32>
  %all = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<32x64xf32>, tensor<64x192xf32> -> tensor<32x192xf32>
  %q0 = mtc.slice %all offsets [0, 0] strides [1, 1] : tensor<32x192xf32> -> tensor<32x64xf32>
  %k0 = mtc.slice %all offsets [0, 64] strides [1, 1] : tensor<32x192xf32> -> tensor<32x64xf32>
  %v0 = mtc.slice %all offsets [0, 128] strides [1, 1] : tensor<32x192xf32> -> tensor<32x64xf32>
  %q1 = mtc.reshape %q0 : tensor<32x64xf32> -> tensor<1x32x4x16xf32>
  %k1 = mtc.reshape %k0 : tensor<32x64xf32> -> tensor<1x32x4x16xf32>
  %v1 = mtc.reshape %v0 : tensor<32x64xf32> -> tensor<1x32x4x16xf32>
  %q = mtc.transpose %q1 [0, 2, 1, 3] : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %k = mtc.transpose %k1 [0, 2, 1, 3] : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %v = mtc.transpose %v1 [0, 2, 1, 3] : tensor<1x32x4x16xf32> -> tensor<1x4x32x16xf32>
  %o, %lse = mtc.attention %q, %k, %v causal 0 scale 0.25
    : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> (tensor<1x4x32x16xf32>, tensor<1x4x32xf32>)
  %t = mtc.transpose %o [0, 2, 1, 3] : tensor<1x4x32x16xf32> -> tensor<1x32x4x16xf32>
  %r = mtc.reshape %t : tensor<1x32x4x16xf32> -> tensor<32x64xf32>
  %wo = mtc.read @out : tensor<64x64xf32>
  %y = mtc.contract %r, %wo batch [] x [] over [1] x [0] : tensor<32x64xf32>, tensor<64x64xf32> -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}

// -----

// The sums of two contractions are added before they are exchanged.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[A:.*]] = mtc.contract %{{.*}} : tensor<8x32xf32>, tensor<32x15xf32> -> tensor<8x15xf32>
// CHECK: %[[B:.*]] = mtc.contract %{{.*}} : tensor<8x32xf32>, tensor<32x15xf32> -> tensor<8x15xf32>
// CHECK: %[[OWN:.*]] = mtc.add %[[A]], %[[B]]
// CHECK: mtc.reshape %[[OWN]]
// CHECK: mtc.all_gather
// CHECK-NOT: mtc.all_gather
// CHECK: return
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x15xf32> = #mtc.zeros
mtc.variable parameter @w3 : tensor<64x15xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x16xf32>) -> tensor<8x15xf32> {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %w2 = mtc.read @w2 : tensor<64x15xf32>
  %w3 = mtc.read @w3 : tensor<64x15xf32>
  %t = mtc.tanh %h : tensor<8x64xf32>
  %s = mtc.sin %h : tensor<8x64xf32>
  %y = mtc.contract %t, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x15xf32> -> tensor<8x15xf32>
  %z = mtc.contract %s, %w3 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x15xf32> -> tensor<8x15xf32>
  %sum = mtc.add %y, %z : tensor<8x15xf32>
  return %sum : tensor<8x15xf32>
}

// -----

// Rows of a table: each rank gathers its own, and adds the updates of its own. The classes of a loss: a maximum and a sum of the ranks.
// CHECK: mtc.variable parameter @table : tensor<128x16xf32> part of tensor<256x16xf32> along <axis = 0, parts = 2>
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[FIRST:.*]] = mtc.own_piece %{{.*}} ranks 2 : tensor<2xi64> -> tensor<1xi64>
// CHECK: mtc.gather %{{.*}} axis 0 batch 0 : tensor<128x16xf32>, tensor<8xi64> -> tensor<8x16xf32>
// CHECK: mtc.select
// CHECK: mtc.all_gather
// CHECK: mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<128x16xf32> -> tensor<8x128xf32>
// CHECK: mtc.reduce max %{{.*}} axes [1] : tensor<8x128xf32> -> tensor<8xf32>
// CHECK: mtc.all_gather
// CHECK: mtc.max
// CHECK: mtc.reduce add %{{.*}} axes [1] : tensor<8x128xf32> -> tensor<8xf32>
// CHECK: mtc.scatter_add %{{.*}} axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<128x16xf32>
// CHECK: mtc.write @table.grad, %{{.*}} : tensor<128x16xf32>
mtc.variable parameter @table : tensor<256x16xf32> = #mtc.zeros
mtc.variable gradient @table.grad : tensor<256x16xf32> = #mtc.zeros of @table
func.func @micro_step(%i: tensor<8xi64>) -> tensor<8xf32> {
  %w = mtc.read @table : tensor<256x16xf32>
  %x = mtc.gather %w, %i axis 0 batch 0 : tensor<256x16xf32>, tensor<8xi64> -> tensor<8x16xf32>
  %s = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<256x16xf32> -> tensor<8x256xf32>
  %m = mtc.reduce max %s axes [1] : tensor<8x256xf32> -> tensor<8xf32>
  %mb = mtc.broadcast %m axes [1] : tensor<8xf32> -> tensor<8x256xf32>
  %d = mtc.sub %s, %mb : tensor<8x256xf32>
  %e = mtc.exp %d : tensor<8x256xf32>
  %sum = mtc.reduce add %e axes [1] : tensor<8x256xf32> -> tensor<8xf32>
  %g = mtc.scatter_add %x, %i axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<256x16xf32>
  mtc.write @table.grad, %g : tensor<256x16xf32>
  return %sum : tensor<8xf32>
}

// -----

// Channels between two convolutions are divided.
// CHECK: mtc.variable parameter @k1 : tensor<16x4x3x3xf32> part of tensor<32x4x3x3xf32> along <axis = 0, parts = 2>
// CHECK: mtc.variable parameter @k2 : tensor<4x16x3x3xf32> part of tensor<4x32x3x3xf32> along <axis = 1, parts = 2>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.convolve {{.*}}(tensor<2x8x8x4xf32>, tensor<16x4x3x3xf32>) -> tensor<2x8x8x16xf32>
// CHECK: mtc.convolve {{.*}}(tensor<2x8x8x16xf32>, tensor<4x16x3x3xf32>) -> tensor<2x8x8x4xf32>
// CHECK: mtc.all_gather
mtc.variable parameter @k1 : tensor<32x4x3x3xf32> = #mtc.zeros
mtc.variable parameter @k2 : tensor<4x32x3x3xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32> {
  %k1 = mtc.read @k1 : tensor<32x4x3x3xf32>
  %h = mtc.convolve %x, %k1 before [1, 1] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x4xf32>, tensor<32x4x3x3xf32>) -> tensor<2x8x8x32xf32>
  %t = mtc.tanh %h : tensor<2x8x8x32xf32>
  %k2 = mtc.read @k2 : tensor<4x32x3x3xf32>
  %y = mtc.convolve %t, %k2 before [1, 1] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x32xf32>, tensor<4x32x3x3xf32>) -> tensor<2x8x8x4xf32>
  return %y : tensor<2x8x8x4xf32>
}

// -----

// Random bits are those of the whole tensor.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[RANK:.*]] = mtc.reshape %{{.*}} : tensor<1xi64> -> tensor<i64>
// CHECK: mtc.random_bits %{{.*}}, %{{.*}} stream 3 part %[[RANK]] of 2 run 32 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8x32xi32>
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x15xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x16xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> tensor<8x15xf32> {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %bits = mtc.random_bits %seed, %step stream 3 : (tensor<i64>, tensor<i64>) -> tensor<8x64xi32>
  %factor = mtc.cast %bits : tensor<8x64xi32> -> tensor<8x64xf32>
  %d = mtc.mul %h, %factor : tensor<8x64xf32>
  %w2 = mtc.read @w2 : tensor<64x15xf32>
  %y = mtc.contract %d, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x15xf32> -> tensor<8x15xf32>
  return %y : tensor<8x15xf32>
}

// -----

// What follows a sum is divided like the pieces that the ranks add, and gathered before the next contraction.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[OWN:.*]] = mtc.contract %{{.*}} : tensor<512x32xf32>, tensor<32x16xf32> -> tensor<512x16xf32>
// CHECK: mtc.all_to_all %[[OWN]] pieces [4096] {mtc.addends} : tensor<512x16xf32> -> tensor<2x4096xf32>
// CHECK: %[[TANH:.*]] = mtc.tanh %{{.*}} : tensor<256x16xf32>
// CHECK: %[[FLAT:.*]] = mtc.reshape %[[TANH]]
// CHECK: mtc.all_gather %[[FLAT]] ranks 2 : tensor<4096xf32>
// CHECK: mtc.contract %{{.*}} : tensor<512x16xf32>, tensor<16x32xf32> -> tensor<512x32xf32>
mtc.variable parameter @w1 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<64x16xf32> = #mtc.zeros
mtc.variable parameter @w3 : tensor<16x64xf32> = #mtc.zeros
mtc.variable parameter @w4 : tensor<64x15xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<512x16xf32>) -> tensor<512x15xf32> {
  %w1 = mtc.read @w1 : tensor<16x64xf32>
  %w2 = mtc.read @w2 : tensor<64x16xf32>
  %w3 = mtc.read @w3 : tensor<16x64xf32>
  %w4 = mtc.read @w4 : tensor<64x15xf32>
  %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<512x16xf32>, tensor<16x64xf32> -> tensor<512x64xf32>
  %a = mtc.sin %h : tensor<512x64xf32>
  %y = mtc.contract %a, %w2 batch [] x [] over [1] x [0] : tensor<512x64xf32>, tensor<64x16xf32> -> tensor<512x16xf32>
  %t = mtc.tanh %y : tensor<512x16xf32>
  %z = mtc.contract %t, %w3 batch [] x [] over [1] x [0] : tensor<512x16xf32>, tensor<16x64xf32> -> tensor<512x64xf32>
  %b = mtc.sin %z : tensor<512x64xf32>
  %r = mtc.contract %b, %w4 batch [] x [] over [1] x [0] : tensor<512x64xf32>, tensor<64x15xf32> -> tensor<512x15xf32>
  return %r : tensor<512x15xf32>
}

// -----

// Gathered rows have one addend on one rank, too: a reshape of them stays as it is.
// CHECK-LABEL: func.func @micro_step
// CHUNKS-LABEL: func.func @micro_step
// CHUNKS: %[[ROWS:.*]] = mtc.gather
// CHUNKS: mtc.reshape %[[ROWS]] : tensor<8x15xf32> -> tensor<120xf32>
mtc.variable parameter @table : tensor<512x15xf32> = #mtc.zeros
func.func @micro_step(%i: tensor<8xi64>) -> tensor<120xf32> {
  %w = mtc.read @table : tensor<512x15xf32>
  %x = mtc.gather %w, %i axis 0 batch 0 : tensor<512x15xf32>, tensor<8xi64> -> tensor<8x15xf32>
  %r = mtc.reshape %x : tensor<8x15xf32> -> tensor<120xf32>
  return %r : tensor<120xf32>
}

// -----

// Narrow addends are f32. Casts between sums do not round them, so that the sums of two matrices are exchanged once. All other casts round.
// CHECK: mtc.variable parameter @q : tensor<15x64xbf16> part of tensor<15x128xbf16>
// CHECK: mtc.variable parameter @k : tensor<15x64xbf16> part of tensor<15x128xbf16>
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[A:.*]] = mtc.contract %{{.*}} : tensor<512x64xbf16>, tensor<15x64xbf16> -> tensor<512x15xf32>
// CHECK: %[[B:.*]] = mtc.contract %{{.*}} : tensor<512x64xbf16>, tensor<15x64xbf16> -> tensor<512x15xf32>
// CHECK-NOT: mtc.cast
// CHECK: %[[SUM:.*]] = mtc.add %[[A]], %[[B]] : tensor<512x15xf32>
// CHECK: mtc.all_to_all %[[SUM]]
// CHECK-NOT: mtc.all_to_all
// CHECK-NOT: as storage
mtc.variable parameter @q : tensor<15x128xbf16> = #mtc.zeros
mtc.variable parameter @k : tensor<15x128xbf16> = #mtc.zeros
func.func @micro_step(%x: tensor<512x128xbf16>, %y: tensor<512x128xbf16>) -> tensor<512x15xbf16> {
  %q = mtc.read @q : tensor<15x128xbf16>
  %dq = mtc.contract %x, %q batch [] x [] over [1] x [1] : tensor<512x128xbf16>, tensor<15x128xbf16> -> tensor<512x15xbf16>
  %wide = mtc.cast %dq as storage : tensor<512x15xbf16> -> tensor<512x15xf32>
  %k = mtc.read @k : tensor<15x128xbf16>
  %dk = mtc.contract %y, %k batch [] x [] over [1] x [1] : tensor<512x128xbf16>, tensor<15x128xbf16> -> tensor<512x15xbf16>
  %stored = mtc.cast %dk as storage : tensor<512x15xbf16> -> tensor<512x15xf32>
  %sum = mtc.add %wide, %stored : tensor<512x15xf32>
  %d = mtc.cast %sum as storage : tensor<512x15xf32> -> tensor<512x15xbf16>
  return %d : tensor<512x15xbf16>
}

// -----

// Each rank has some of the classes: the logit of a label is gathered from the part that has it, without rounding it again.
// CHECK: mtc.variable parameter @head : tensor<16x64xbf16> part of tensor<16x128xbf16>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.gather %{{.*}} axis 1 batch 1 : tensor<512x64xbf16>, tensor<512x1xi64>
// CHECK: mtc.cast %{{.*}} -> tensor<512x1xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 2 {mtc.addends} : tensor<512xf32> -> tensor<2x512xf32>
mtc.variable parameter @head : tensor<16x128xbf16> = #mtc.zeros
func.func @micro_step(%x: tensor<512x16xbf16>, %labels: tensor<512x1xi64>) -> tensor<512x1xbf16> {
  %head = mtc.read @head : tensor<16x128xbf16>
  %logits = mtc.contract %x, %head batch [] x [] over [1] x [0] : tensor<512x16xbf16>, tensor<16x128xbf16> -> tensor<512x128xbf16>
  %picked = mtc.gather %logits, %labels axis 1 batch 1 : tensor<512x128xbf16>, tensor<512x1xi64> -> tensor<512x1xbf16>
  return %picked : tensor<512x1xbf16>
}

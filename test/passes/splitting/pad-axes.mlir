// RUN: mtc-opt %s -split-input-file -mtc-pad-axes=parts=2 | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-pad-axes=parts=3 | FileCheck %s --check-prefix=THREE

// Nine classes get a padded one, which has no probability: the maximum reads -infinity and the sum zero. The gradient of the weights is 0 there.
// CHECK: mtc.variable parameter @w : tensor<10x64xf32> part of tensor<9x64xf32> along <axis = 0, parts = 1, padding = 1>
// CHECK: mtc.variable gradient @w.grad : tensor<10x64xf32> part of tensor<9x64xf32> along <axis = 0, parts = 1, padding = 1>
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[W:.*]] = mtc.read @w : tensor<10x64xf32>
// CHECK: %[[LOGITS:.*]] = mtc.contract %{{.*}}, %[[W]] {{.*}} -> tensor<8x10xf32>
// CHECK: %[[LOWEST:.*]] = mtc.constant dense<0xFF800000> : tensor<8x10xf32>
// CHECK: %[[MASKED:.*]] = mtc.select %{{.*}}, %[[LOGITS]], %[[LOWEST]] : tensor<8x10xi1>
// CHECK: mtc.reduce max %[[MASKED]] axes [1] : tensor<8x10xf32> -> tensor<8xf32>
// CHECK: %[[EXP:.*]] = mtc.exp %{{.*}} : tensor<8x10xf32>
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.000000e+00> : tensor<8x10xf32>
// CHECK: %[[TERMS:.*]] = mtc.select %{{.*}}, %[[EXP]], %[[ZERO]] : tensor<8x10xi1>
// CHECK: mtc.reduce add %[[TERMS]] axes [1] : tensor<8x10xf32> -> tensor<8xf32>
// CHECK: mtc.contract %[[TERMS]], %{{.*}} -> tensor<10x64xf32>
// CHECK: mtc.write @w.grad, %{{.*}} : tensor<10x64xf32>
// CHECK: mtc.slice %{{.*}} -> tensor<8x1x9xf32>

// Nine is a multiple of three.
// THREE-NOT: padding
mtc.variable parameter @w : tensor<9x64xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<9x64xf32> = #mtc.zeros of @w
func.func @micro_step(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x9xf32>) {
  %w = mtc.read @w : tensor<9x64xf32>
  %logits = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<9x64xf32> -> tensor<8x9xf32>
  %max = mtc.reduce max %logits axes [1] : tensor<8x9xf32> -> tensor<8xf32>
  %all = mtc.broadcast %max axes [1] : tensor<8xf32> -> tensor<8x9xf32>
  %shifted = mtc.sub %logits, %all : tensor<8x9xf32>
  %e = mtc.exp %shifted : tensor<8x9xf32>
  %sum = mtc.reduce add %e axes [1] : tensor<8x9xf32> -> tensor<8xf32>
  %g = mtc.contract %e, %x batch [] x [] over [0] x [0] : tensor<8x9xf32>, tensor<8x64xf32> -> tensor<9x64xf32>
  mtc.write @w.grad, %g : tensor<9x64xf32>
  return %sum, %logits : tensor<8xf32>, tensor<8x9xf32>
}

// -----

// Nine heads become ten, and the fused weight of queries, keys and values has padding in each of its three blocks.
// CHECK: mtc.variable parameter @qkv : tensor<64x240xf32> part of tensor<64x216xf32> along <axis = 1, outer = 3, parts = 1, padding = 8>
// CHECK: mtc.variable parameter @out : tensor<80x64xf32> part of tensor<72x64xf32> along <axis = 0, parts = 1, padding = 8>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.slice %{{.*}} offsets [0, 160] strides [1, 1] : tensor<32x240xf32> -> tensor<32x80xf32>
// CHECK: mtc.attention {{.*}}(tensor<1x10x32x8xf32>, tensor<1x10x32x8xf32>, tensor<1x10x32x8xf32>)
// CHECK: mtc.contract {{.*}} : tensor<32x80xf32>, tensor<80x64xf32> -> tensor<32x64xf32>
// THREE-NOT: padding
mtc.variable parameter @qkv : tensor<64x216xf32> = #mtc.zeros
mtc.variable parameter @out : tensor<72x64xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %w = mtc.read @qkv : tensor<64x216xf32>
  %all = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<32x64xf32>, tensor<64x216xf32> -> tensor<32x216xf32>
  %q0 = mtc.slice %all offsets [0, 0] strides [1, 1] : tensor<32x216xf32> -> tensor<32x72xf32>
  %k0 = mtc.slice %all offsets [0, 72] strides [1, 1] : tensor<32x216xf32> -> tensor<32x72xf32>
  %v0 = mtc.slice %all offsets [0, 144] strides [1, 1] : tensor<32x216xf32> -> tensor<32x72xf32>
  %q1 = mtc.reshape %q0 : tensor<32x72xf32> -> tensor<1x32x9x8xf32>
  %k1 = mtc.reshape %k0 : tensor<32x72xf32> -> tensor<1x32x9x8xf32>
  %v1 = mtc.reshape %v0 : tensor<32x72xf32> -> tensor<1x32x9x8xf32>
  %q = mtc.transpose %q1 [0, 2, 1, 3] : tensor<1x32x9x8xf32> -> tensor<1x9x32x8xf32>
  %k = mtc.transpose %k1 [0, 2, 1, 3] : tensor<1x32x9x8xf32> -> tensor<1x9x32x8xf32>
  %v = mtc.transpose %v1 [0, 2, 1, 3] : tensor<1x32x9x8xf32> -> tensor<1x9x32x8xf32>
  %o, %lse = mtc.attention %q, %k, %v causal 0 scale 0.25
    : (tensor<1x9x32x8xf32>, tensor<1x9x32x8xf32>, tensor<1x9x32x8xf32>) -> (tensor<1x9x32x8xf32>, tensor<1x9x32xf32>)
  %t = mtc.transpose %o [0, 2, 1, 3] : tensor<1x9x32x8xf32> -> tensor<1x32x9x8xf32>
  %r = mtc.reshape %t : tensor<1x32x9x8xf32> -> tensor<32x72xf32>
  %wo = mtc.read @out : tensor<72x64xf32>
  %y = mtc.contract %r, %wo batch [] x [] over [1] x [0] : tensor<32x72xf32>, tensor<72x64xf32> -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}

// -----

// Rows of an embedding that do not exist are still refused: their numbers are those after the padding.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[EXTENT:.*]] = mtc.constant dense<10> : tensor<1xi64>
// CHECK: %[[INDICES:.*]] = mtc.select %{{.*}}, %{{.*}}, %[[EXTENT]] : tensor<1xi1>
// CHECK: mtc.gather %{{.*}}, %[[INDICES]] {{.*}} : tensor<10x5xf32>
mtc.variable parameter @table : tensor<9x5xf32> = #mtc.zeros
func.func @micro_step(%i: tensor<1xi64>, %x: tensor<1x5xf32>) -> (tensor<1x5xf32>, tensor<1x9xf32>) {
  %t = mtc.read @table : tensor<9x5xf32>
  %rows = mtc.gather %t, %i axis 0 batch 0 : tensor<9x5xf32>, tensor<1xi64> -> tensor<1x5xf32>
  %y = mtc.contract %x, %t batch [] x [] over [1] x [1] : tensor<1x5xf32>, tensor<9x5xf32> -> tensor<1x9xf32>
  return %rows, %y : tensor<1x5xf32>, tensor<1x9xf32>
}

// -----

// Rows that padded indices of 0 point to are not 0: their sum reads 0 instead.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[ROWS:.*]] = mtc.gather {{.*}} -> tensor<10xf32>
// CHECK: %[[TERMS:.*]] = mtc.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<10xi1>, tensor<10xf32>
// CHECK: mtc.reduce add %[[TERMS]] axes [0] : tensor<10xf32> -> tensor<f32>
mtc.variable parameter @w : tensor<9xf32> = #mtc.zeros
func.func @micro_step(%weights: tensor<4xf32>, %labels: tensor<9xi64>) -> tensor<f32> {
  %w = mtc.read @w : tensor<9xf32>
  %rows = mtc.gather %weights, %labels axis 0 batch 0 : tensor<4xf32>, tensor<9xi64> -> tensor<9xf32>
  %y = mtc.add %w, %rows : tensor<9xf32>
  %s = mtc.reduce add %y axes [0] : tensor<9xf32> -> tensor<f32>
  return %s : tensor<f32>
}

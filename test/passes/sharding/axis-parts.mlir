// RUN: mtc-opt %s -split-input-file -mtc-optimizer="optimizer=muon ns-steps=1 clip-norm=1 group={{match=w optimizer=muon}}" | FileCheck %s

// The ranks of a tensor group gather the parts of a matrix, compute the same step, and take their parts of it. The gradient norm is the
// root of the sum over all parts; the gradient that each rank has whole counts once.
// CHECK-LABEL: mtc.program "alone"
// CHECK: mtc.variable optimizer @w.moment1 : tensor<64x96xf32> part of tensor<64x192xf32> along <axis = 1, outer = 3, parts = 2>
// CHECK: mtc.variable optimizer @b.moment1 : tensor<192xf32> = #mtc.zeros
mtc.program "alone" stage training ranks <count = 2, tensor = 2> {}
mtc.variable parameter @w : tensor<64x96xf32> part of tensor<64x192xf32> along #mtc.axis_split<axis = 1, outer = 3, parts = 2> = #mtc.zeros
mtc.variable parameter @b : tensor<192xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<64x96xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<192xf32> = #mtc.zeros of @b
func.func @micro_step() {
  %w = mtc.read @w : tensor<64x96xf32>
  %b = mtc.read @b : tensor<192xf32>
  mtc.write @w.grad, %w : tensor<64x96xf32>
  mtc.write @b.grad, %b : tensor<192xf32>
  return
}
// CHECK-LABEL: func.func @update
// CHECK: mtc.all_gather %{{.*}} ranks 2 : tensor<24xf64> -> tensor<48xf64>
// CHECK-NOT: mtc.all_gather
// CHECK: mtc.sqrt %{{.*}} : tensor<f64>
// CHECK-NOT: mtc.all_gather
// CHECK: %[[PARTS:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<6144xf32> -> tensor<2x192x32xf32>
// CHECK: %[[RUNS:.*]] = mtc.transpose %[[PARTS]] [1, 0, 2] : tensor<2x192x32xf32> -> tensor<192x2x32xf32>
// CHECK: mtc.reshape %[[RUNS]] : tensor<192x2x32xf32> -> tensor<64x192xf32>
// CHECK: mtc.contract %{{.*}} : tensor<64x64xf32>, tensor<64x192xf32> -> tensor<64x192xf32>
// CHECK: %[[STEP:.*]] = mtc.transpose %{{.*}} [1, 0, 2] : tensor<192x2x32xf32> -> tensor<2x192x32xf32>
// CHECK: mtc.own_piece %[[STEP]] ranks 2 : tensor<2x192x32xf32> -> tensor<6144xf32>
// CHECK: mtc.write @w, %{{.*}} : tensor<64x96xf32>

// -----

// The pieces of a part are gathered within the data group, and its parts within the tensor group.
// CHECK-LABEL: mtc.program "divided"
mtc.program "divided" stage training ranks <count = 4, tensor = 2, shard = optimizer> accumulation <micro_steps = 2>
  loss_scaling <window = 2000, min_scale = 1.0 : f64> {}
mtc.variable parameter @w : tensor<64x96xf32> part of tensor<64x192xf32> along #mtc.axis_split<axis = 1, outer = 3, parts = 2> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<64x96xf32> = #mtc.zeros of @w
mtc.variable optimizer @mtc.loss_scale : tensor<f32> = dense<1.0> : tensor<f32>
mtc.variable optimizer @mtc.finite_updates : tensor<i64> = #mtc.zeros
mtc.variable optimizer @mtc.update_count : tensor<i64> = #mtc.zeros
func.func @micro_step() {
  %w = mtc.read @w : tensor<64x96xf32>
  mtc.write @w.grad, %w : tensor<64x96xf32>
  return
}
// CHECK-LABEL: func.func @update
// CHECK: %[[PIECES:.*]] = mtc.all_gather %{{.*}} ranks 2 stride 2 : tensor<12xf64> -> tensor<24xf64>
// CHECK: mtc.all_gather %[[PIECES]] ranks 2 : tensor<24xf64> -> tensor<48xf64>
// Gradients of all ranks are finite.
// CHECK: mtc.all_gather %{{.*}} ranks 2 stride 2 : tensor<1xf64> -> tensor<2xf64>
// CHECK: mtc.all_gather %{{.*}} ranks 2 : tensor<1xf64> -> tensor<2xf64>
// CHECK: mtc.all_gather %{{.*}} ranks 2 stride 2 : tensor<3072xf32> -> tensor<64x96xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 2 : tensor<6144xf32> -> tensor<2x192x32xf32>
// CHECK: mtc.own_piece %{{.*}} ranks 2 : tensor<2x192x32xf32> -> tensor<6144xf32>
// CHECK: mtc.own_piece %{{.*}} ranks 2 stride 2 : tensor<64x96xf32> -> tensor<3072xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 2 stride 2 : tensor<3072xf32> -> tensor<64x96xf32>

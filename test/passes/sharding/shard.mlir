// RUN: mtc-opt %s -split-input-file -mtc-shard | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-shard="bucket-bytes=1" | FileCheck %s --check-prefix=APART

// The shards are multiples of 256 elements.
// CHECK: mtc.variable gradient @mtc.gradient_sum.0 : tensor<512xf32> = #mtc.zeros
// APART-DAG: mtc.variable gradient @mtc.gradient_sum.0 : tensor<256xf32> = #mtc.zeros
// APART-DAG: mtc.variable gradient @mtc.gradient_sum.1 : tensor<256xf32> = #mtc.zeros
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 4> {}
mtc.variable parameter @w : tensor<4x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<5xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<5xf32> = #mtc.zeros of @b
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.write @w.grad
// CHECK: mtc.write @b.grad
// CHECK: %[[W:.*]] = mtc.read @w.grad
// CHECK: %[[B:.*]] = mtc.read @b.grad
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %[[W]], %[[B]] pieces [256, 256] : tensor<4x5xf32>, tensor<5xf32> -> tensor<2x512xf32>
// The losses are added in the order of ranks.
// CHECK: %[[LOSSES:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<1xf64> -> tensor<2x1xf64>
// CHECK: %[[LOSS:.*]] = mtc.read @mtc.loss_sum
// CHECK: %[[NEW:.*]] = mtc.add_rows %[[LOSSES]] onto %[[LOSS]] : tensor<f64> : tensor<2x1xf64> -> tensor<f64>
// CHECK: mtc.write @mtc.loss_sum, %[[NEW]]
// The gradients are added in the order of ranks.
// CHECK: %[[SUM:.*]] = mtc.read @mtc.gradient_sum.0
// CHECK: %[[SUMS:.*]] = mtc.add_rows %[[ROWS]] onto %[[SUM]] : tensor<512xf32> : tensor<2x512xf32> -> tensor<512xf32>
// CHECK: mtc.write @mtc.gradient_sum.0, %[[SUMS]]

// The first bucket is accumulated after the second one is sent.
// APART-LABEL: func.func @micro_step
// APART: %[[W:.*]] = mtc.all_to_all %{{.*}} pieces [256] : tensor<4x5xf32> -> tensor<2x256xf32>
// APART-NOT: mtc.add_rows %[[W]]
// APART: mtc.all_to_all %{{.*}} pieces [256] : tensor<5xf32> -> tensor<2x256xf32>
// APART: mtc.add_rows %[[W]]
func.func @micro_step(%x: tensor<4x5xf32>, %y: tensor<5xf32>, %l: tensor<f64>) {
  %old = mtc.read @mtc.loss_sum : tensor<f64>
  %sum = mtc.add %old, %l : tensor<f64>
  mtc.write @mtc.loss_sum, %sum : tensor<f64>
  mtc.write @w.grad, %x : tensor<4x5xf32>
  mtc.write @b.grad, %y : tensor<5xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: %[[SUMS:.*]] = mtc.read @mtc.gradient_sum.0
// CHECK: %[[W:.*]] = mtc.tile %[[SUMS]] from 0 : tensor<512xf32> -> tensor<256xf32>
// CHECK: %[[B:.*]] = mtc.tile %[[SUMS]] from 256 : tensor<512xf32> -> tensor<256xf32>
// CHECK: %[[ALL:.*]]:2 = mtc.all_gather %[[W]], %[[B]] ranks 2 : tensor<256xf32>, tensor<256xf32> -> tensor<4x5xf32>, tensor<5xf32>
// CHECK: mtc.write @w.grad, %[[ALL]]#0
// CHECK: mtc.write @b.grad, %[[ALL]]#1
// CHECK: mtc.read @w.grad
// CHECK: mtc.write @w,
// CHECK: mtc.write @mtc.gradient_sum.0, %{{.*}} : tensor<512xf32>
func.func @update() {
  %g = mtc.read @w.grad : tensor<4x5xf32>
  mtc.write @w, %g : tensor<4x5xf32>
  return
}

// -----

// One rank accumulates its own row.
// CHECK-LABEL: mtc.program "one"
mtc.program "one" stage training ranks <count = 1> accumulation <micro_steps = 2> {}
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %{{.*}} pieces [256] : tensor<4xf32> -> tensor<1x256xf32>
// CHECK-NOT: mtc.add_rows
// CHECK: mtc.add %{{.*}}, %{{.*}} : tensor<256xf32>
func.func @micro_step(%x: tensor<4xf32>) {
  mtc.write @w.grad, %x : tensor<4xf32>
  return
}
func.func @update() {
  return
}

// -----

// Gradients and losses are exchanged within data groups, whose ranks have the stride of a tensor group.
// CHECK-LABEL: mtc.program "groups"
mtc.program "groups" stage training ranks <count = 6, tensor = 2> accumulation <micro_steps = 6> {}
mtc.variable gradient @w.grad : tensor<600xf32> = #mtc.zeros
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.all_to_all %{{.*}} pieces [256] stride 2 : tensor<600xf32> -> tensor<3x256xf32>
// CHECK: mtc.all_gather %{{.*}} ranks 3 stride 2 : tensor<1xf64> -> tensor<3x1xf64>
func.func @micro_step(%x: tensor<600xf32>, %l: tensor<f64>) {
  %old = mtc.read @mtc.loss_sum : tensor<f64>
  %sum = mtc.add %old, %l : tensor<f64>
  mtc.write @mtc.loss_sum, %sum : tensor<f64>
  mtc.write @w.grad, %x : tensor<600xf32>
  return
}
// CHECK-LABEL: func.func @update
// CHECK: mtc.all_gather %{{.*}} ranks 3 stride 2 : tensor<256xf32> -> tensor<600xf32>
func.func @update() {
  return
}

// -----

// Without ranks, nothing is exchanged.
// CHECK-LABEL: mtc.program "alone"
// CHECK-NOT: mtc.all
mtc.program "alone" stage training accumulation <micro_steps = 4> {}
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<4xf32>) {
  mtc.write @w.grad, %x : tensor<4xf32>
  return
}

// RUN: mtc-opt %s -split-input-file -mtc-optimizer="optimizer=momentum lr=0.1" -mtc-shard | FileCheck %s

// With `reduce = last`, micro-steps accumulate. The update sends the sums of this rank, adds those of all ranks, and gathers the
// totals.
// CHECK-LABEL: mtc.program "whole"
// CHECK-NOT: mtc.gradient_sum
mtc.program "whole" stage training ranks <count = 2, reduce = last> accumulation <micro_steps = 4> {}
mtc.variable parameter @w : tensor<20x30xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<20x30xf32> = #mtc.zeros of @w

// CHECK-LABEL: func.func @micro_step
// CHECK-NOT: mtc.all_to_all
func.func @micro_step() {
  %w = mtc.read @w : tensor<20x30xf32>
  %old = mtc.read @w.grad : tensor<20x30xf32>
  %g = mtc.add %old, %w : tensor<20x30xf32>
  mtc.write @w.grad, %g : tensor<20x30xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: %[[OWN:.*]] = mtc.read @w.grad
// CHECK: %[[ROWS:.*]] = mtc.all_to_all %[[OWN]] pieces [512] : tensor<20x30xf32> -> tensor<2x512xf32>
// CHECK: mtc.add_rows %[[ROWS]] : tensor<2x512xf32> -> tensor<512xf32>
// CHECK: %[[TOTAL:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<512xf32> -> tensor<20x30xf32>
// CHECK: mtc.write @w.grad, %[[TOTAL]]
// CHECK: mtc.read_flat [@w.grad]
// The gradient is zero when the next micro-step accumulates.
// CHECK: mtc.write_flat [@w.grad]
// CHECK: mtc.write_flat [@w]

// -----

// Sharded optimizer state: the update uses the shard of the sums.
// CHECK-LABEL: mtc.program "divided"
// CHECK: mtc.variable gradient @w.grad : tensor<20x30xf32>
// CHECK-NOT: mtc.gradient_sum
// CHECK: mtc.variable optimizer @w.velocity : tensor<512xf32> piece of tensor<20x30xf32>
mtc.program "divided" stage training ranks <count = 2, shard = optimizer, reduce = last> accumulation <micro_steps = 4> {}
mtc.variable parameter @w : tensor<20x30xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<20x30xf32> = #mtc.zeros of @w

func.func @micro_step() {
  %w = mtc.read @w : tensor<20x30xf32>
  %old = mtc.read @w.grad : tensor<20x30xf32>
  %g = mtc.add %old, %w : tensor<20x30xf32>
  mtc.write @w.grad, %g : tensor<20x30xf32>
  return
}

// CHECK-LABEL: func.func @update
// CHECK: %[[OWN:.*]] = mtc.read @w.grad
// CHECK: mtc.all_to_all %[[OWN]]
// CHECK: mtc.write @w.grad
// CHECK: mtc.write @w.velocity
// CHECK: %[[NEW:.*]] = mtc.all_gather
// CHECK: mtc.write @w, %[[NEW]]

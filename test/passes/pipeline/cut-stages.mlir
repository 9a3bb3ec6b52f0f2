// The program of two stages: the cut is between the layers, whose gradients follow from the variables.
// RUN: mtc-opt --mtc-cut-stages %s | FileCheck %s

mtc.program "m" stage forward batch 4 ranks <count = 2, pipeline = 2> accumulation <micro_steps = 4> {
  mtc.input "x" rows
}
mtc.variable parameter @w1 : tensor<8x8xf32> = #mtc.initializer<"w1">
mtc.variable parameter @b1 : tensor<8xf32> = #mtc.initializer<"b1">
mtc.variable parameter @w2 : tensor<8x2xf32> = #mtc.initializer<"w2">
mtc.variable optimizer @mtc.loss_sum : tensor<f64> = #mtc.zeros
mtc.variable gradient @w1.grad : tensor<8x8xf32> = #mtc.zeros of @w1
mtc.variable gradient @b1.grad : tensor<8xf32> = #mtc.zeros of @b1
mtc.variable gradient @w2.grad : tensor<8x2xf32> = #mtc.zeros of @w2
func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.differentiated, mtc.name = "mtc.loss"}) {
  %w1 = mtc.read @w1 : tensor<8x8xf32>
  %a = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b1 = mtc.read @b1 : tensor<8xf32>
  %b = mtc.broadcast %b1 axes [0] : tensor<8xf32> -> tensor<4x8xf32>
  %h = mtc.add %a, %b : tensor<4x8xf32>
  %w2 = mtc.read @w2 : tensor<8x2xf32>
  %y = mtc.contract %h, %w2 batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
  %loss = mtc.reduce add %y axes [0, 1] : tensor<4x2xf32> -> tensor<f32>
  %old = mtc.read @mtc.loss_sum : tensor<f64>
  %part = mtc.cast %loss : tensor<f32> -> tensor<f64>
  %sum = mtc.add %old, %part : tensor<f64>
  mtc.write @mtc.loss_sum, %sum : tensor<f64>
  %dy = mtc.constant dense<1.0> : tensor<4x2xf32>
  %dw2 = mtc.contract %h, %dy batch [] x [] over [0] x [0] : tensor<4x8xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  mtc.write @w2.grad, %dw2 : tensor<8x2xf32>
  %dh = mtc.contract %dy, %w2 batch [] x [] over [1] x [1] : tensor<4x2xf32>, tensor<8x2xf32> -> tensor<4x8xf32>
  %db = mtc.reduce add %dh axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  mtc.write @b1.grad, %db : tensor<8xf32>
  %dw1 = mtc.contract %x, %dh batch [] x [] over [0] x [0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  mtc.write @w1.grad, %dw1 : tensor<8x8xf32>
  return %loss : tensor<f32>
}

// CHECK: module @stage0
// CHECK-SAME: mtc.gradient_stages = array<i64: 0, 1, 1>
// CHECK: pipeline_stage 0
// CHECK-NOT: parameter @b1
// CHECK: mtc.variable parameter @w1
// CHECK-NOT: parameter @{{b1|w2}}
// CHECK: func.func @micro_step(%[[X:.*]]: tensor<4x8xf32> {mtc.name = "x"}) {
// CHECK-DAG: %[[DH:.*]] = mtc.read @mtc.slot.micro_step.1.0
// CHECK-DAG: %[[A:.*]] = mtc.contract %[[X]]
// CHECK: mtc.write @mtc.slot.micro_step.0.0, %[[A]]
// CHECK: %[[DW:.*]] = mtc.contract %[[X]], %[[DH]]
// CHECK: mtc.write @w1.grad, %[[DW]]
// CHECK-NEXT: return
// CHECK: mtc.variable slot @mtc.slot.micro_step.0.0 copies 2 : tensor<4x8xf32>
// CHECK: mtc.message sent channel 0 [@mtc.slot.micro_step.0.0] stage 1
// CHECK: mtc.message backward channel 1 [@mtc.slot.micro_step.1.0] stage 1
// The forward part of micro-step 1 runs before the backward part of micro-step 0 (1F1B).
// CHECK: mtc.tasks "micro_step"
// CHECK-SAME: function = @micro_step>
// CHECK-SAME: function = @micro_step, micro = 1>
// CHECK-SAME: function = @micro_step.backward>
// CHECK-SAME: function = @agreement, micro = 3>
// CHECK: func.func @agreement
// CHECK: mtc.all_gather {{.*}} ranks 2

// The sum of the bias gradient runs with the bias, and the last stage returns the loss.
// CHECK: module @stage1
// CHECK: mtc.variable parameter @b1
// CHECK: mtc.variable parameter @w2
// CHECK: func.func @micro_step
// CHECK-SAME: mtc.name = "mtc.loss"
// CHECK: mtc.read @mtc.slot.micro_step.0.0
// CHECK: mtc.write @mtc.slot.micro_step.1.0
// CHECK: mtc.write @b1.grad
// CHECK: mtc.message channel 0 [@mtc.slot.micro_step.0.0] stage 0
// CHECK: mtc.message sent backward channel 1 [@mtc.slot.micro_step.1.0] stage 0

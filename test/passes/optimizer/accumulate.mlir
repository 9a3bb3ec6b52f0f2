// Where micro-steps add to the gradients, the update leaves zeros behind for the next ones.
//
// RUN: mtc-opt %s --mtc-optimizer=optimizer=sgd | FileCheck %s

// CHECK-LABEL: func.func @update
// CHECK: %[[G:.*]] = mtc.read_flat [@w.grad]
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK: mtc.write_flat [@w.grad], %[[ZERO]]
// CHECK: mtc.write_flat [@w]
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
func.func @micro_step(%x: tensor<4xf32>) {
  mtc.accumulate @w.grad, %x : tensor<4xf32>
  return
}

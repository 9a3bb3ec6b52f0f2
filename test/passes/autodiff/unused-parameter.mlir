// Gradients of parameters on which the loss does not depend are zeros in every step.
//
// RUN: mtc-opt %s --mtc-autodiff 2>/dev/null | FileCheck %s

// CHECK: mtc.variable gradient @unread.grad : tensor<3xf32> = #mtc.zeros of @unread
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: mtc.write @unread.grad, %[[ZERO]]
mtc.variable parameter @used : tensor<f32> = #mtc.zeros
mtc.variable parameter @unread : tensor<3xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %u = mtc.read @used : tensor<f32>
  return %u : tensor<f32>
}

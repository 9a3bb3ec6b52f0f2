// A loss and its gradient compute the row's maximum and logarithm once: the decomposed loss and the gradient merge.
// RUN: mtc-opt %s -mtc-decompose -canonicalize -cse -canonicalize | FileCheck %s
// RUN: mtc-opt %s -mtc-autodiff -mtc-decompose -canonicalize -cse -canonicalize | FileCheck %s

mtc.variable parameter @w : tensor<4x10xf32> = #mtc.zeros

// CHECK-LABEL: func.func @micro_step
// CHECK-COUNT-1: mtc.reduce max
// CHECK-NOT: mtc.reduce max
// CHECK-COUNT-1: mtc.log
// CHECK-NOT: mtc.log
// CHECK: return
func.func @micro_step(%t: tensor<4xi64>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %z = mtc.read @w : tensor<4x10xf32>
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  %s = mtc.reduce add %l axes [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}

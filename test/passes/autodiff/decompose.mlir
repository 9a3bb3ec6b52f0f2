// RUN: mtc-opt %s --mtc-decompose | FileCheck %s
// RUN: mtc-opt %s --mtc-decompose=keep=mtc.softmax_cross_entropy | FileCheck %s --check-prefix=KEPT
// KEPT-COUNT-2: mtc.softmax_cross_entropy

// Larger operations are decomposed in every function and region. Core operations are kept.
//
// CHECK-LABEL: func.func @loss
// CHECK-NOT: mtc.softmax_cross_entropy
// CHECK: mtc.reduce max
// CHECK: mtc.exp
// CHECK: mtc.tanh
// CHECK-NOT: mtc.softmax_cross_entropy
// CHECK: return
func.func @loss(%z: tensor<4x10xf32>, %t: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  %y = mtc.tanh %z : tensor<4x10xf32>
  %b = mtc.softmax_cross_entropy %y, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

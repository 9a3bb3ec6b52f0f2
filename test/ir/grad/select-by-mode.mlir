// The gradient is that of the training form.
// RUN: mtc-opt %s -mtc-test-gradient | FileCheck %s

// CHECK-LABEL: func.func @scaled_in_training_vjp(
// CHECK-SAME: %[[X:.*]]: tensor<5xf64>, %[[DY:.*]]: tensor<5xf64>)
// CHECK: %[[THREE:.*]] = mtc.constant dense<3.000000e+00>
// CHECK: %[[DX:.*]] = mtc.mul %[[DY]], %[[THREE]]
// CHECK-NEXT: return %[[DX]]
func.func @scaled_in_training(%x: tensor<5xf64>) -> tensor<5xf64> {
  %three = mtc.constant dense<3.0> : tensor<5xf64>
  %t = mtc.mul %x, %three : tensor<5xf64>
  %y = mtc.select_by_mode training %t inference %x : tensor<5xf64>
  return %y : tensor<5xf64>
}

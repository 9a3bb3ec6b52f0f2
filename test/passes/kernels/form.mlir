// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-form-kernels))' | FileCheck %s

// A splat is a scalar of the kernel that uses it, and no operand.
// CHECK-LABEL: func.func @splat_operand(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK: mtc.kernel [8](%[[X]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[V:.*]] = mtc.kernel.load
// CHECK: arith.mulf %[[V]], %[[HALF]] : f32
// CHECK-NOT: mtc.constant
func.func @splat_operand(%x: tensor<8xf32>) -> tensor<8xf32> {
  %h = mtc.constant dense<0.5> : tensor<8xf32>
  %y = mtc.mul %x, %h : tensor<8xf32>
  return %y : tensor<8xf32>
}

// A splat with other users is a filled tensor.
// CHECK-LABEL: func.func @splat_result(
// CHECK: %[[F:.*]] = mtc.kernel [4]() : () -> tensor<4xf32>
// CHECK: return %[[F]]
func.func @splat_result() -> tensor<4xf32> {
  %h = mtc.constant dense<0.5> : tensor<4xf32>
  return %h : tensor<4xf32>
}

// Data remains a constant, and views and library calls do not change.
// CHECK-LABEL: func.func @stays(
// CHECK: mtc.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: mtc.reshape
// CHECK: mtc.contract
// CHECK-NOT: mtc.kernel
func.func @stays(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %d = mtc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = mtc.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %y = mtc.contract %d, %v batch [] x [] over [0] x [0] : tensor<2xf32>, tensor<2x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// No library supports f64, so a kernel computes the contraction.
// CHECK-LABEL: func.func @contract_f64(
// CHECK: mtc.kernel [2, 4, 3] reduce [2]
// CHECK: mtc.kernel.reduce  add
func.func @contract_f64(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<2x3xf64>, tensor<3x4xf64> -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// Axes of extent 1 need no reduction: kernels omit them from reductions.
// CHECK-LABEL: func.func @unit_extents(
// CHECK: mtc.kernel [4, 5, 1](
// CHECK-NOT: mtc.kernel.reduce
// CHECK: mtc.kernel [4, 1](
// CHECK-NOT: mtc.kernel.reduce
// CHECK: mtc.kernel [1, 1](
// CHECK-NOT: mtc.kernel.reduce
// CHECK: mtc.kernel [4, 1, 7] reduce [2](
// CHECK: mtc.kernel.reduce  max
func.func @unit_extents(%a: tensor<4x1xf64>, %b: tensor<1x5xf64>, %c: tensor<4x1xf32>, %d: tensor<1xf32>, %e: tensor<4x1x7xf32>)
    -> (tensor<4x5xf64>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) {
  %0 = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x1xf64>, tensor<1x5xf64> -> tensor<4x5xf64>
  %1 = mtc.reduce add %c axes [1] : tensor<4x1xf32> -> tensor<4xf32>
  %2 = mtc.cumulative_sum %d axis 0 : tensor<1xf32>
  %3 = mtc.reduce max %e axes [1, 2] : tensor<4x1x7xf32> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4x5xf64>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>
}

// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{target=cuda},func.func(mtc-prepare-calls))' | FileCheck %s

// The batch is the innermost axis: no matrix has a unit stride, so that a kernel computes the contraction.
// CHECK-LABEL: func.func @f
// CHECK: mtc.kernel
// CHECK: mtc.contract
// CHECK-NOT: mtc.contract
func.func @f(%x: tensor<8x16x4xf32>, %w: tensor<16x8x4xf32>, %y: tensor<8x16xf32>, %v: tensor<16x8xf32>)
    -> (tensor<4x8x8xf32>, tensor<8x8xf32>) {
  %a = mtc.contract %x, %w batch [2] x [2] over [1] x [0] : tensor<8x16x4xf32>, tensor<16x8x4xf32> -> tensor<4x8x8xf32>
  %b = mtc.contract %y, %v batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return %a, %b : tensor<4x8x8xf32>, tensor<8x8xf32>
}

// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-prepare-contractions))' | FileCheck %s

// Free axes that lie behind one another are one: nothing to do.
// CHECK-LABEL: func.func @merged_rows(
// CHECK-NOT: mtc.transpose
// CHECK: mtc.contract %{{.*}}, %{{.*}} batch [] x [] over [2] x [0]
func.func @merged_rows(%x: tensor<4x8x16xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
  %y = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<4x8x16xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}

// Heads between rows and columns are a batch with strides: nothing to do.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT: mtc.transpose
func.func @heads(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>) -> tensor<2x4x8x8xf32> {
  %s = mtc.contract %q, %k batch [0, 2] x [0, 2] over [3] x [3] : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32> -> tensor<2x4x8x8xf32>
  return %s : tensor<2x4x8x8xf32>
}

// Rows on both sides of the contracted axis are no matrix: the operand is transposed.
// CHECK-LABEL: func.func @split_rows(
// CHECK: %[[T:.*]] = mtc.transpose %{{.*}} [0, 2, 1]
// CHECK: mtc.contract %[[T]], %{{.*}} batch [] x [] over [2] x [0]
func.func @split_rows(%x: tensor<4x16x8xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x16x8xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}

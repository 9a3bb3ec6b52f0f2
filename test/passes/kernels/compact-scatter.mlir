// RUN: mtc-opt %s --mtc-compact-scatter | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-compact-scatter,mtc-form-kernels,mtc-fuse-kernels))' | FileCheck %s --check-prefix=FUSED

// Eight vectors are added to a table of a thousand rows. The first update of each row assigns it a row of a table with eight rows.
// CHECK-LABEL: func.func @embedding(
// CHECK: mtc.reduce or
// CHECK: %[[PLACES:.*]] = mtc.scatter_add {{.*}} -> tensor<1000xi64>
// CHECK: mtc.gather %[[PLACES]], {{.*}} -> tensor<8xi64>
// CHECK: %[[SUMS:.*]] = mtc.scatter_add {{.*}} -> tensor<8x16xf32>
// CHECK: mtc.gather %[[SUMS]], {{.*}} -> tensor<1000x16xf32>
// CHECK: mtc.select
// CHECK-NOT: mtc.scatter_add

// Users of the long table read the short one; no kernel computes the long gradient.
// FUSED-LABEL: func.func @embedding(
// FUSED: mtc.kernel [1000, 16]{{.*}}tensor<8x16xf32>{{.*}} -> tensor<1000x16xf32>
// FUSED-NOT: -> tensor<1000x16xf32> {
// FUSED: return
func.func @embedding(%u: tensor<2x4x16xf32>, %i: tensor<2x4xi32>, %w: tensor<1000x16xf32>) -> tensor<1000x16xf32> {
  %g = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<2x4x16xf32>, tensor<2x4xi32> -> tensor<1000x16xf32>
  %y = mtc.sub %w, %g : tensor<1000x16xf32>
  return %y : tensor<1000x16xf32>
}

// CHECK-LABEL: func.func @short_table(
// CHECK-NEXT: mtc.scatter_add
func.func @short_table(%u: tensor<8x16xf32>, %i: tensor<8xi64>) -> tensor<31x16xf32> {
  %g = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<8x16xf32>, tensor<8xi64> -> tensor<31x16xf32>
  return %g : tensor<31x16xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-NEXT: mtc.scatter_add
func.func @scalars(%u: tensor<8xf32>, %i: tensor<8xi64>) -> tensor<1000xf32> {
  %g = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<8xf32>, tensor<8xi64> -> tensor<1000xf32>
  return %g : tensor<1000xf32>
}

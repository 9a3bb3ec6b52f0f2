// RUN: mtc-opt %s -split-input-file -mlir-print-local-scope --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-column-sums,canonicalize))' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-column-sums,canonicalize))' --remarks-filter=mtc-fuse-column-sums --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// The kernel that computes the rows sums their columns.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-column-sums {{.*}}column_sums=1
// CHECK-LABEL: func.func @of_producer
// CHECK: %[[K:.*]]:2 = mtc.kernel [6, 5]
// CHECK: mtc.kernel.yield %[[V:.*]], %[[V]] at [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>] add [0]
// CHECK-NOT: mtc.kernel [
// CHECK: return %[[K]]#1, %[[K]]#0
func.func @of_producer(%x: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<5xf32>) {
  %y = mtc.exp %x : tensor<6x5xf32>
  %s = mtc.reduce add %y axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  return %y, %s : tensor<6x5xf32>, tensor<5xf32>
}

// -----

// The kernel also reduces the same rows, which have another shape, as for the scale of a norm.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-column-sums {{.*}}column_sums=1
// CHECK-LABEL: func.func @beside_rows
// CHECK: mtc.kernel [3, 4, 5] reduce [2](%arg0)
// CHECK: mtc.kernel.reduce add
// CHECK: mtc.kernel.yield {{.*}} add [
// CHECK-NOT: mtc.kernel [
func.func @beside_rows(%x: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<5xf32>) {
  %r = mtc.reduce add %x axes [2] : tensor<3x4x5xf32> -> tensor<3x4xf32>
  %b = mtc.broadcast %r axes [2] : tensor<3x4xf32> -> tensor<3x4x5xf32>
  %d = mtc.sub %x, %b : tensor<3x4x5xf32>
  %f = mtc.reshape %x : tensor<3x4x5xf32> -> tensor<12x5xf32>
  %q = mtc.mul %f, %f : tensor<12x5xf32>
  %s = mtc.reduce add %q axes [0] : tensor<12x5xf32> -> tensor<5xf32>
  return %d, %s : tensor<3x4x5xf32>, tensor<5xf32>
}

// -----

// A sum over all elements is known only at the end, so its users remain separate.
// CHECK-LABEL: func.func @read_again
// CHECK: mtc.kernel [6, 5]
// CHECK: add [
// CHECK: mtc.kernel [6, 5]
// CHECK-NOT: mtc.kernel [
func.func @read_again(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %y = mtc.exp %x : tensor<6x5xf32>
  %s = mtc.reduce add %y axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %b = mtc.broadcast %s axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %d = mtc.div %y, %b : tensor<6x5xf32>
  return %d : tensor<6x5xf32>
}

// -----

// The kernel of the columns is kept if it computes other values from the sum.
// CHECK-LABEL: func.func @of_largest
// CHECK-NOT: add [
func.func @of_largest(%x: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<5xf32>) {
  %y = mtc.exp %x : tensor<6x5xf32>
  %s = mtc.reduce max %y axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  return %y, %s : tensor<6x5xf32>, tensor<5xf32>
}

// -----

// The rows have no other users.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-column-sums {{.*}}no kernel computes or reads the rows
// CHECK-LABEL: func.func @alone
// CHECK: mtc.kernel [6, 5] reduce [0]
// CHECK: mtc.kernel.reduce add
// CHECK-NOT: add [
func.func @alone(%x: tensor<6x5xf32>) -> tensor<5xf32> {
  %s = mtc.reduce add %x axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  return %s : tensor<5xf32>
}

// -----

// The column sum includes the dim that the rows' kernel reduces.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-column-sums {{.*}}a reduction runs along the rows
// CHECK-LABEL: func.func @across
// CHECK-NOT: add [
func.func @across(%x: tensor<6x4x5xf32>) -> (tensor<6xf32>, tensor<4xf32>) {
  %r = mtc.reduce max %x axes [1, 2] : tensor<6x4x5xf32> -> tensor<6xf32>
  %s = mtc.reduce add %x axes [0, 2] : tensor<6x4x5xf32> -> tensor<4xf32>
  return %r, %s : tensor<6xf32>, tensor<4xf32>
}

// -----

// The second sum would have to reduce rows in a kernel that sums along them already.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-column-sums {{.*}}column_sums=1
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-column-sums {{.*}}a reduction runs along the rows
// CHECK-LABEL: func.func @along_rows
// CHECK: mtc.kernel [6, 4, 3](
// CHECK: add [0]
// CHECK: mtc.kernel [6, 4] reduce [0](
func.func @along_rows(%x: tensor<6x4xf32>, %y: tensor<6x4x3xf32>)
    -> (tensor<6x4x3xf32>, tensor<4xf32>, tensor<4xf32>) {
  %b = mtc.broadcast %x axes [2] : tensor<6x4xf32> -> tensor<6x4x3xf32>
  %p = mtc.mul %b, %y : tensor<6x4x3xf32>
  %s = mtc.reduce add %p axes [0, 2] : tensor<6x4x3xf32> -> tensor<4xf32>
  %r = mtc.reduce add %x axes [0] : tensor<6x4xf32> -> tensor<4xf32>
  return %p, %s, %r : tensor<6x4x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Trailing extents of 1 do not make columns of rows.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: add [
func.func @whole(%x: tensor<6x5x1xf32>) -> (tensor<6x5x1xf32>, tensor<1xf32>) {
  %y = mtc.exp %x : tensor<6x5x1xf32>
  %s = mtc.reduce add %y axes [0, 1] : tensor<6x5x1xf32> -> tensor<1xf32>
  return %y, %s : tensor<6x5x1xf32>, tensor<1xf32>
}

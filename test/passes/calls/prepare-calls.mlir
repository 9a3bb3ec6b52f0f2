// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-prepare-calls))' | FileCheck %s

// Adjacent free axes are one axis, so the call is not changed.
// CHECK-LABEL: func.func @merged_rows(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x16xf32>, %[[W:.*]]: tensor<16x32xf32>)
// CHECK-NEXT: mtc.contract %[[X]], %[[W]] batch [] x [] over [2] x [0]
func.func @merged_rows(%x: tensor<4x8x16xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
  %y = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<4x8x16xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}

// Heads between rows and columns are a strided batch, so the call is not changed.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: mtc.contract
func.func @heads(%q: tensor<2x8x4x16xf32>, %k: tensor<2x8x4x16xf32>) -> tensor<2x4x8x8xf32> {
  %s = mtc.contract %q, %k batch [0, 2] x [0, 2] over [3] x [3] : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32> -> tensor<2x4x8x8xf32>
  return %s : tensor<2x4x8x8xf32>
}

// An operand with rows on both sides of the contracted axis is not a matrix, so it is copied, and the call reads the copy.
// CHECK-LABEL: func.func @split_rows(
// CHECK: %[[T:.*]] = mtc.transpose %{{.*}} [0, 2, 1]
// CHECK: %[[V:.*]] = mtc.strided_view %[[T]] offset 0 strides [128, 1, 16]
// CHECK: mtc.contract %[[V]], %{{.*}} batch [] x [] over [1] x [0]
func.func @split_rows(%x: tensor<4x16x8xf32>, %w: tensor<16x32xf32>) -> tensor<4x8x32xf32> {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x16x8xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
  return %y : tensor<4x8x32xf32>
}

// The operand is one of three in a packed projection, whose heads are split and transposed. The slice, reshape and transpose become
// strides.
// CHECK-LABEL: func.func @packed_keys(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8x96xf32>
// CHECK-NEXT: %[[K:.*]] = mtc.strided_view %[[X]] offset 32 strides [768, 8, 1, 96] : tensor<2x8x96xf32> -> tensor<2x4x8x8xf32>
// CHECK-NEXT: mtc.contract %{{.*}}, %[[K]]
func.func @packed_keys(%x: tensor<2x8x96xf32>, %q: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  %k = mtc.slice %x offsets [0, 0, 32] strides [1, 1, 1] : tensor<2x8x96xf32> -> tensor<2x8x32xf32>
  %h = mtc.reshape %k : tensor<2x8x32xf32> -> tensor<2x8x4x8xf32>
  %t = mtc.transpose %h [0, 2, 3, 1] : tensor<2x8x4x8xf32> -> tensor<2x4x8x8xf32>
  %y = mtc.contract %q, %t batch [0, 1] x [0, 1] over [3] x [2] : tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  return %y : tensor<2x4x8x8xf32>
}

// Keys that query heads share have a stride of 0.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %{{.*}}: tensor<2x6x8x4xf32>, %[[K:[^:]*]]: tensor<2x2x8x4xf32>
// CHECK: mtc.strided_view %[[K]] offset 0 strides [64, 32, 0, 4, 1] : tensor<2x2x8x4xf32> -> tensor<2x2x3x8x4xf32>
func.func @repeated(%q: tensor<2x6x8x4xf32>, %k: tensor<2x2x8x4xf32>) -> tensor<2x2x3x8x8xf32> {
  %g = mtc.reshape %q : tensor<2x6x8x4xf32> -> tensor<2x2x3x8x4xf32>
  %r = mtc.broadcast %k axes [2] : tensor<2x2x8x4xf32> -> tensor<2x2x3x8x4xf32>
  %y = mtc.contract %g, %r batch [0, 1, 2] x [0, 1, 2] over [4] x [4] : tensor<2x2x3x8x4xf32>, tensor<2x2x3x8x4xf32> -> tensor<2x2x3x8x8xf32>
  return %y : tensor<2x2x3x8x8xf32>
}

// Heads that are merged after a transpose have no single stride, so the transpose is kept.
// CHECK-LABEL: func.func @merged_heads(
// CHECK-NEXT: mtc.transpose
// CHECK-NEXT: mtc.reshape
// CHECK-NEXT: mtc.contract
func.func @merged_heads(%x: tensor<2x4x8x16xf32>, %w: tensor<64x32xf32>) -> tensor<2x8x32xf32> {
  %t = mtc.transpose %x [0, 2, 1, 3] : tensor<2x4x8x16xf32> -> tensor<2x8x4x16xf32>
  %m = mtc.reshape %t : tensor<2x8x4x16xf32> -> tensor<2x8x64xf32>
  %y = mtc.contract %m, %w batch [] x [] over [2] x [0] : tensor<2x8x64xf32>, tensor<64x32xf32> -> tensor<2x8x32xf32>
  return %y : tensor<2x8x32xf32>
}

// Computed operands are read where they are stored.
// CHECK-LABEL: func.func @computed(
// CHECK: mtc.exp
// CHECK-NEXT: mtc.contract
func.func @computed(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %e = mtc.exp %x : tensor<8x16xf32>
  %y = mtc.contract %e, %w batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// The call reads heads of a packed projection in place, and writes merged heads in place, so that nothing is copied. Users that need the
// order in which the call computes read the transposed result.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8x96xf32>
// CHECK-DAG: %[[Q:.*]] = mtc.strided_view %[[X]] offset 0 strides [768, 8, 96, 1] : tensor<2x8x96xf32> -> tensor<2x4x8x8xf32>
// CHECK-DAG: %[[K:.*]] = mtc.strided_view %[[X]] offset 32 strides [768, 8, 96, 1]
// CHECK-DAG: %[[V:.*]] = mtc.strided_view %[[X]] offset 64 strides [768, 8, 96, 1]
// CHECK: %[[O:.*]], %{{.*}} = mtc.permuted_attention %[[Q]], %[[K]], %[[V]] scale 5.000000e-01 order [0, 2, 1, 3] : {{.*}} -> (tensor<2x8x4x8xf32>, tensor<2x4x8xf32>)
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %[[O]] [0, 2, 1, 3] : tensor<2x8x4x8xf32> -> tensor<2x4x8x8xf32>
// CHECK-NEXT: mtc.reshape %[[O]] : tensor<2x8x4x8xf32> -> tensor<2x8x32xf32>
// CHECK-NEXT: mtc.exp %[[T]]
func.func @attention(%x: tensor<2x8x96xf32>) -> (tensor<2x8x32xf32>, tensor<2x4x8x8xf32>) {
  %q = mtc.slice %x offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x8x96xf32> -> tensor<2x8x32xf32>
  %k = mtc.slice %x offsets [0, 0, 32] strides [1, 1, 1] : tensor<2x8x96xf32> -> tensor<2x8x32xf32>
  %v = mtc.slice %x offsets [0, 0, 64] strides [1, 1, 1] : tensor<2x8x96xf32> -> tensor<2x8x32xf32>
  %q4 = mtc.reshape %q : tensor<2x8x32xf32> -> tensor<2x8x4x8xf32>
  %k4 = mtc.reshape %k : tensor<2x8x32xf32> -> tensor<2x8x4x8xf32>
  %v4 = mtc.reshape %v : tensor<2x8x32xf32> -> tensor<2x8x4x8xf32>
  %qh = mtc.transpose %q4 [0, 2, 1, 3] : tensor<2x8x4x8xf32> -> tensor<2x4x8x8xf32>
  %kh = mtc.transpose %k4 [0, 2, 1, 3] : tensor<2x8x4x8xf32> -> tensor<2x4x8x8xf32>
  %vh = mtc.transpose %v4 [0, 2, 1, 3] : tensor<2x8x4x8xf32> -> tensor<2x4x8x8xf32>
  %o, %s = mtc.attention %qh, %kh, %vh scale 0.5
    : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8xf32>)
  %m = mtc.transpose %o [0, 2, 1, 3] : tensor<2x4x8x8xf32> -> tensor<2x8x4x8xf32>
  %y = mtc.reshape %m : tensor<2x8x4x8xf32> -> tensor<2x8x32xf32>
  %e = mtc.exp %o : tensor<2x4x8x8xf32>
  return %y, %e : tensor<2x8x32xf32>, tensor<2x4x8x8xf32>
}

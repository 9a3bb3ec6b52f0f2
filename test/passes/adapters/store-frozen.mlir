// RUN: mtc-opt %s --split-input-file --mtc-store-frozen=frozen-bits=4 --verify-diagnostics | FileCheck %s
// RUN: mtc-opt %s --split-input-file --mtc-store-frozen=frozen-bits=16 | FileCheck %s --check-prefix=HALF
// RUN: mtc-opt %s --split-input-file --mtc-store-frozen | FileCheck %s --check-prefix=WHOLE

// Blocks are along the axis that the first contraction sums over.
// CHECK: mtc.variable frozen @in_out : tensor<360xui8> = #mtc.stored<nf4, tensor<64x10xf32>, #mtc.initializer<"in_out">, transposed>
// CHECK: mtc.variable frozen @out_in : tensor<360xui8> = #mtc.stored<nf4, tensor<10x64xf32>, #mtc.initializer<"out_in">>
// CHECK: mtc.variable frozen @table : tensor<64x64xbf16> = #mtc.stored<bf16, tensor<64x64xf32>, #mtc.initializer<"table">>
// CHECK: mtc.variable frozen @vector : tensor<64xf32>
// CHECK: mtc.variable parameter @trained : tensor<10x64xf32>
// CHECK: mtc.variable constant @constant : tensor<10x64xf32>
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[W:.*]] = mtc.read @in_out : tensor<360xui8>
// CHECK-NEXT: %[[Y:.*]] = mtc.stored_contract %{{.*}}, %[[W]] over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xf32>, tensor<360xui8> -> tensor<8x10xf32>
// The backward pass sums over the other axis.
// CHECK: mtc.stored_contract %[[Y]], %[[W]] over 1 x 0 of nf4 tensor<10x64xf32> : tensor<8x10xf32>, tensor<360xui8> -> tensor<8x64xf32>
// The matrix is the left operand of a contraction, so its axis is the first axis of the result.
// CHECK: %[[V:.*]] = mtc.read @out_in : tensor<360xui8>
// CHECK-NEXT: mtc.stored_contract %{{.*}}, %[[V]] over 1 x 1 of nf4 tensor<10x64xf32> first : tensor<8x64xf32>, tensor<360xui8> -> tensor<10x8xf32>
// CHECK: mtc.gather
// CHECK: mtc.contract
// CHECK-LABEL: func.func @evaluate
// CHECK: mtc.stored_contract %{{.*}} over 1 x 1 of nf4

// HALF: mtc.variable frozen @in_out : tensor<64x10xbf16> = #mtc.stored<bf16, tensor<64x10xf32>, #mtc.initializer<"in_out">>
// HALF: mtc.variable frozen @table : tensor<64x64xbf16>
// HALF: mtc.variable frozen @vector : tensor<64xf32>
// HALF-LABEL: func.func @micro_step
// HALF: mtc.stored_contract %{{.*}} over 1 x 0 of bf16 tensor<64x10xf32>
// HALF: mtc.stored_contract %{{.*}} over 1 x 1 of bf16 tensor<64x10xf32>
// HALF: %[[T:.*]] = mtc.read @table : tensor<64x64xbf16>
// HALF: %[[C:.*]] = mtc.cast %[[T]] : tensor<64x64xbf16> -> tensor<64x64xf32>
// HALF: mtc.gather %[[C]]

// WHOLE-NOT: stored
// expected-remark @unknown {{frozen matrices stored in 4 bits: 2, in 720 bytes}}
// expected-remark @unknown {{frozen matrices stored in bf16: 'table' (used by a lookup)}}
mtc.variable frozen @in_out : tensor<64x10xf32> = #mtc.initializer<"in_out">
mtc.variable frozen @out_in : tensor<10x64xf32> = #mtc.initializer<"out_in">
mtc.variable frozen @table : tensor<64x64xf32> = #mtc.initializer<"table">
mtc.variable frozen @vector : tensor<64xf32> = #mtc.initializer<"vector">
mtc.variable frozen @unread : tensor<64x64xf32> = #mtc.initializer<"unread">
mtc.variable parameter @trained : tensor<10x64xf32> = #mtc.initializer<"trained">
mtc.variable constant @constant : tensor<10x64xf32> = #mtc.initializer<"constant">
func.func @micro_step(%x: tensor<8x64xf32>, %i: tensor<8xi64>) -> (tensor<8x64xf32>, tensor<10x8xf32>, tensor<8x64xf32>, tensor<8x10xf32>, tensor<64xf32>, tensor<10x64xf32>) {
  %w = mtc.read @in_out : tensor<64x10xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x10xf32> -> tensor<8x10xf32>
  %dx = mtc.contract %y, %w batch [] x [] over [1] x [1] : tensor<8x10xf32>, tensor<64x10xf32> -> tensor<8x64xf32>
  %v = mtc.read @out_in : tensor<10x64xf32>
  %u = mtc.contract %v, %x batch [] x [] over [1] x [1] : tensor<10x64xf32>, tensor<8x64xf32> -> tensor<10x8xf32>
  %t = mtc.read @table : tensor<64x64xf32>
  %g = mtc.gather %t, %i axis 0 batch 0 : tensor<64x64xf32>, tensor<8xi64> -> tensor<8x64xf32>
  %p = mtc.read @trained : tensor<10x64xf32>
  %z = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<10x64xf32> -> tensor<8x10xf32>
  %b = mtc.read @vector : tensor<64xf32>
  %c = mtc.read @constant : tensor<10x64xf32>
  return %dx, %u, %g, %z, %b, %c : tensor<8x64xf32>, tensor<10x8xf32>, tensor<8x64xf32>, tensor<8x10xf32>, tensor<64xf32>, tensor<10x64xf32>
}
func.func @evaluate(%x: tensor<8x64xf32>) -> tensor<8x10xf32> {
  %w = mtc.read @in_out : tensor<64x10xf32>
  %t = mtc.transpose %w [1, 0] : tensor<64x10xf32> -> tensor<10x64xf32>
  %y = mtc.contract %x, %t batch [] x [] over [1] x [1] : tensor<8x64xf32>, tensor<10x64xf32> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

// -----

// If a contraction computes in a smaller type, its operand is passed to the library as stored, or is converted only to that type.
// CHECK-LABEL: func.func @evaluate
// CHECK: mtc.stored_contract %{{.*}} over 1 x 1 of nf4 tensor<10x64xf32> : tensor<8x64xbf16>, tensor<360xui8> -> tensor<8x10xf32>
// HALF-LABEL: func.func @evaluate
// HALF: %[[W:.*]] = mtc.read @w : tensor<10x64xbf16>
// HALF-NEXT: mtc.contract %{{.*}}, %[[W]] batch [] x [] over [1] x [1] : tensor<8x64xbf16>, tensor<10x64xbf16> -> tensor<8x10xf32>
// expected-remark @unknown {{frozen matrices stored in 4 bits: 1, in 360 bytes}}
mtc.variable frozen @w : tensor<10x64xf32> = #mtc.initializer<"w">
func.func @evaluate(%x: tensor<8x64xbf16>) -> tensor<8x10xf32> {
  %w = mtc.read @w : tensor<10x64xf32>
  %h = mtc.cast %w : tensor<10x64xf32> -> tensor<10x64xbf16>
  %y = mtc.contract %x, %h batch [] x [] over [1] x [1] : tensor<8x64xbf16>, tensor<10x64xbf16> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

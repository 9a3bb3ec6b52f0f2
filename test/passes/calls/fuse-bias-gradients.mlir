// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-bias-gradients))' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-bias-gradients))' --remarks-filter=mtc-fuse-bias-gradients --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// The gradients of a weight [out, in] and of its bias: the rows are the call's lhs.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-bias-gradients {{.*}}sums=5
// CHECK-LABEL: func.func @lhs
// CHECK: %[[W:.*]], %[[S:.*]] = mtc.fused_contract %arg0, %arg1 batch [] x [] over [0] x [0] summing {{ *}}lhs : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32> sums tensor<5xf32>
// CHECK-NEXT: return %[[W]], %[[S]]
func.func @lhs(%d: tensor<6x5xf32>, %x: tensor<6x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %w = mtc.contract %d, %x batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  return %w, %s : tensor<5x8xf32>, tensor<5xf32>
}

// -----

// For a weight [in, out], the rows are the call's rhs. Here they have two axes, and the sum is accumulated in the gradient.
// CHECK-LABEL: func.func @rhs
// CHECK: %[[W:.*]], %[[S:.*]] = mtc.fused_contract %arg1, %{{.*}} batch [] x [] over [0, 1] x [0, 1] adding %arg2 : tensor<8x5xf32> summing {{ *}}rhs
// CHECK: return %[[W]], %[[S]]
func.func @rhs(%d: tensor<6x5xf32>, %x: tensor<2x3x8xf32>, %g: tensor<8x5xf32>) -> (tensor<8x5xf32>, tensor<5xf32>) {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %r = mtc.reshape %d : tensor<6x5xf32> -> tensor<2x3x5xf32>
  %w = mtc.fused_contract %x, %r batch [] x [] over [0, 1] x [0, 1] adding %g : tensor<8x5xf32> : tensor<2x3x8xf32>, tensor<2x3x5xf32> -> tensor<8x5xf32>
  return %w, %s : tensor<8x5xf32>, tensor<5xf32>
}

// -----

// The rows are the result of a call with gelu's gradient, and an operand of another call.
// CHECK-LABEL: func.func @result
// CHECK: %[[D:.*]], %[[S:.*]] = mtc.fused_contract %arg0, %arg1 {{.*}} then {{ *}}gelu_gradient at %arg2 : tensor<6x16xf32> summing {{ *}}result
// CHECK: %[[W:.*]] = mtc.contract %[[D]], %arg3
// CHECK: return %[[W]], %[[S]]
func.func @result(%u: tensor<6x4xf32>, %v: tensor<4x16xf32>, %z: tensor<6x16xf32>, %x: tensor<6x8xf32>)
    -> (tensor<16x8xf32>, tensor<16xf32>) {
  %d = mtc.fused_contract %u, %v batch [] x [] over [1] x [0] then gelu_gradient at %z : tensor<6x16xf32>
         : tensor<6x4xf32>, tensor<4x16xf32> -> tensor<6x16xf32>
  %s = mtc.reduce add %d axes [0] : tensor<6x16xf32> -> tensor<16xf32>
  %w = mtc.contract %d, %x batch [] x [] over [0] x [0] : tensor<6x16xf32>, tensor<6x8xf32> -> tensor<16x8xf32>
  return %w, %s : tensor<16x8xf32>, tensor<16xf32>
}

// -----

// The call moves up to the first user of the sum, with the view that it reads.
// CHECK-LABEL: func.func @moves_up
// CHECK: %[[R:.*]] = mtc.reshape %arg1
// CHECK-NEXT: %[[W:.*]], %[[S:.*]] = mtc.fused_contract %arg0, %[[R]]
// CHECK-NEXT: mtc.kernel [5](%[[S]])
func.func @moves_up(%d: tensor<6x5xf32>, %x: tensor<2x3x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %e = mtc.exp %s : tensor<5xf32>
  %r = mtc.reshape %x : tensor<2x3x8xf32> -> tensor<6x8xf32>
  %w = mtc.contract %d, %r batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  return %w, %e : tensor<5x8xf32>, tensor<5xf32>
}

// -----

// It cannot move if it depends on a user of the sum.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-bias-gradients {{.*}}the sum is needed before the call can run
// CHECK-LABEL: func.func @needed_before
// CHECK-NOT: fused_contract
func.func @needed_before(%d: tensor<6x5xf32>, %x: tensor<6x5xf32>) -> tensor<5x5xf32> {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %b = mtc.broadcast %s axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %y = mtc.cumulative_sum %b axis 0 : tensor<6x5xf32>
  %w = mtc.contract %d, %y batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x5xf32> -> tensor<5x5xf32>
  return %w : tensor<5x5xf32>
}

// -----

// Sums are not fused if they are over axes that the call does not contract, or if they are of the call's unmodified result or of values
// that are not its operands.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-bias-gradients {{.*}}the library does not support sums in this call
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-bias-gradients {{.*}}no library call reads or returns the rows
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-bias-gradients {{.*}}the library does not support sums in this call
// CHECK-LABEL: func.func @others
// CHECK-NOT: fused_contract
func.func @others(%d: tensor<6x5xf32>, %x: tensor<6x8xf32>, %y: tensor<6x5xf32>)
    -> (tensor<6xf32>, tensor<5xf32>, tensor<8xf32>) {
  %s = mtc.reduce add %d axes [1] : tensor<6x5xf32> -> tensor<6xf32>
  %t = mtc.reduce add %y axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %w = mtc.contract %d, %x batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  %u = mtc.reduce add %w axes [0] : tensor<5x8xf32> -> tensor<8xf32>
  return %s, %t, %u : tensor<6xf32>, tensor<5xf32>, tensor<8xf32>
}

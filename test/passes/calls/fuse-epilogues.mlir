// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-epilogues))' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels,cse,mtc-fuse-epilogues))' --remarks-filter=mtc-fuse-epilogues --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// A bias is stored once and read for each row, and the kernel that added it is erased. The read of the variable moves before the call.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-epilogues {{.*}}addends=1, products=1
// CHECK-LABEL: func.func @bias
// CHECK: %[[BIAS:.*]] = mtc.read @b
// CHECK: %[[ROWS:.*]] = mtc.strided_view %[[BIAS]] offset 0 strides [0, 1] : tensor<5xf32> -> tensor<6x5xf32>
// CHECK: mtc.fused_contract %{{.*}}, %{{.*}} batch [] x [] over [1] x [0] adding %[[ROWS]] : tensor<6x5xf32>
// CHECK-NOT: mtc.kernel
module {
  mtc.variable parameter @b : tensor<5xf32> = #mtc.zeros
  func.func @bias(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>) -> tensor<2x3x5xf32> {
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
    %b = mtc.read @b : tensor<5xf32>
    %r = mtc.reshape %p : tensor<6x5xf32> -> tensor<2x3x5xf32>
    %c = mtc.broadcast %b axes [0, 1] : tensor<5xf32> -> tensor<2x3x5xf32>
    %s = mtc.add %r, %c : tensor<2x3x5xf32>
    return %s : tensor<2x3x5xf32>
  }
}

// -----

// The bias is constant along rows.
// CHECK-LABEL: func.func @row_bias
// CHECK: mtc.strided_view %{{.*}} offset 0 strides [1, 0] : tensor<6xf32> -> tensor<6x5xf32>
// CHECK-NOT: mtc.kernel
func.func @row_bias(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %b: tensor<6xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %c = mtc.broadcast %b axes [1] : tensor<6xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %c : tensor<6x5xf32>
  return %s : tensor<6x5xf32>
}

// -----

// The kernel that also reduces the sum now reads the sum instead of the residual and the bias.
// CHECK-LABEL: func.func @residual
// CHECK: %[[SUM:.*]] = mtc.fused_contract %arg0, %arg1 {{.*}} adding
// CHECK: mtc.kernel [6, 5] reduce [1](%[[SUM]]) : (tensor<6x5xf32>) -> tensor<6xf32>
func.func @residual(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>, %residual: tensor<6x5xf32>)
    -> (tensor<6x5xf32>, tensor<6xf32>) {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %c = mtc.broadcast %b axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %c : tensor<6x5xf32>
  %t = mtc.add %residual, %s : tensor<6x5xf32>
  %q = mtc.mul %t, %t : tensor<6x5xf32>
  %n = mtc.reduce add %q axes [1] : tensor<6x5xf32> -> tensor<6xf32>
  return %t, %n : tensor<6x5xf32>, tensor<6xf32>
}

// -----

// In a sum of three contractions, each call adds the preceding result.
// REMARK: remark: [Passed] fused | Category:mtc-fuse-epilogues {{.*}}addends=1, products=3
// CHECK-LABEL: func.func @products
// CHECK: %[[A:.*]] = mtc.fused_contract %arg0, %arg3 {{.*}} adding %arg4
// CHECK: %[[B:.*]] = mtc.fused_contract %arg1, %arg3 {{.*}} adding %[[A]] :
// CHECK: %[[C:.*]] = mtc.fused_contract %arg2, %arg3 {{.*}} adding %[[B]] :
// CHECK-NEXT: return %[[C]]
func.func @products(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %z: tensor<6x8xf32>, %w: tensor<8x5xf32>, %g: tensor<6x5xf32>)
    -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %q = mtc.contract %y, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %r = mtc.contract %z, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %g : tensor<6x5xf32>
  %t = mtc.add %s, %r : tensor<6x5xf32>
  %u = mtc.add %q, %t : tensor<6x5xf32>
  return %u : tensor<6x5xf32>
}

// -----

// A sum that is not stored is not moved from the kernel that uses it.
// CHECK-LABEL: func.func @not_stored
// CHECK-NOT: adding
// CHECK: mtc.kernel [6, 5](%{{.*}}, %arg2)
func.func @not_stored(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %c = mtc.broadcast %b axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %c : tensor<6x5xf32>
  %t = mtc.tanh %s : tensor<6x5xf32>
  return %t : tensor<6x5xf32>
}

// -----

// A contraction with other users is not fused.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: adding
func.func @read_twice(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %r: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %r : tensor<6x5xf32>
  return %p, %s : tensor<6x5xf32>, tensor<6x5xf32>
}

// -----

// The addition is not fused if the call would have to wait for the addend, because its operands would be live longer.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-epilogues {{.*}}the added operand is computed after the call
// CHECK-LABEL: func.func @computed_after
// CHECK-NOT: adding
func.func @computed_after(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %r: tensor<5x6xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %g = mtc.cumulative_sum %r axis 1 : tensor<5x6xf32>
  %t = mtc.transpose %g [1, 0] : tensor<5x6xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %t : tensor<6x5xf32>
  return %s : tensor<6x5xf32>
}

// -----

// There are more addends than the call supports. Unused views are removed.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-epilogues {{.*}}the call cannot add it
// CHECK-LABEL: func.func @too_many
// CHECK-NOT: strided_view
// CHECK-NOT: adding
func.func @too_many(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %a: tensor<5xf32>, %b: tensor<6x5xf32>, %c: tensor<6x5xf32>)
    -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %d = mtc.broadcast %a axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %d : tensor<6x5xf32>
  %t = mtc.add %s, %b : tensor<6x5xf32>
  %u = mtc.add %t, %c : tensor<6x5xf32>
  return %u : tensor<6x5xf32>
}

// -----

// A variable that is written in between keeps its new value.
// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-epilogues {{.*}}the added operand is computed after the call
// CHECK-LABEL: func.func @written_between
// CHECK-NOT: adding
module {
  mtc.variable state @v : tensor<6x5xf32> = #mtc.zeros
  func.func @written_between(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %n: tensor<6x5xf32>) -> tensor<6x5xf32> {
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
    mtc.write @v, %n : tensor<6x5xf32>
    %v = mtc.read @v : tensor<6x5xf32>
    %s = mtc.add %p, %v : tensor<6x5xf32>
    return %s : tensor<6x5xf32>
  }
}

// -----

// A convolution accepts only one number per channel, and addends with the layout of its result.
// CHECK-LABEL: func.func @convolution
// CHECK: %[[BIAS:.*]] = mtc.strided_view %arg2 offset 0 strides [0, 0, 1] : tensor<4xf32> -> tensor<2x6x4xf32>
// CHECK: mtc.fused_convolve %arg0, %arg1 bias %[[BIAS]] : tensor<2x6x4xf32> adding %arg3 : tensor<2x6x4xf32> before [0]
// CHECK-NOT: mtc.kernel
func.func @convolution(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>, %b: tensor<4xf32>, %residual: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  %c = mtc.broadcast %b axes [0, 1] : tensor<4xf32> -> tensor<2x6x4xf32>
  %s = mtc.add %y, %c : tensor<2x6x4xf32>
  %t = mtc.add %residual, %s : tensor<2x6x4xf32>
  return %t : tensor<2x6x4xf32>
}

// -----

// REMARK: remark: [Missed] not-fused | Category:mtc-fuse-epilogues {{.*}}the call cannot add it
// CHECK-LABEL: func.func @position_bias
// CHECK: mtc.convolve
// CHECK: mtc.kernel
func.func @position_bias(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>, %b: tensor<6xf32>) -> tensor<2x6x4xf32> {
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  %c = mtc.broadcast %b axes [0, 2] : tensor<6xf32> -> tensor<2x6x4xf32>
  %s = mtc.add %y, %c : tensor<2x6x4xf32>
  return %s : tensor<2x6x4xf32>
}

// -----

// An f32 bias of a 16-bit result is added before the result is rounded, so that it is rounded once.
// CHECK-LABEL: func.func @narrow_bias
// CHECK: %[[ROWS:.*]] = mtc.strided_view %arg2 offset 0 strides [0, 1] : tensor<5xf32> -> tensor<6x5xf32>
// CHECK: mtc.fused_contract %arg0, %arg1 batch [] x [] over [1] x [0] adding %[[ROWS]] : tensor<6x5xf32> : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xbf16>
// CHECK-NOT: mtc.kernel
func.func @narrow_bias(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>, %b: tensor<5xf32>) -> tensor<6x5xbf16> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %c = mtc.broadcast %b axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %c : tensor<6x5xf32>
  %r = mtc.cast %s : tensor<6x5xf32> -> tensor<6x5xbf16>
  return %r : tensor<6x5xbf16>
}

// -----

// Only rounded.
// CHECK-LABEL: func.func @rounded
// CHECK-NEXT: mtc.contract {{.*}} -> tensor<6x5xbf16>
// CHECK-NEXT: return
func.func @rounded(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>) -> tensor<6x5xbf16> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %r = mtc.cast %p : tensor<6x5xf32> -> tensor<6x5xbf16>
  return %r : tensor<6x5xbf16>
}

// -----

// A kernel rounds if the type differs from that of the operands, or if the exact sum is also used.
// CHECK-LABEL: func.func @other_types
// CHECK: mtc.contract {{.*}} -> tensor<6x5xf32>
// CHECK: mtc.kernel
func.func @other_types(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>) -> tensor<6x5xf16> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %r = mtc.cast %p : tensor<6x5xf32> -> tensor<6x5xf16>
  return %r : tensor<6x5xf16>
}

// -----

// CHECK-LABEL: func.func @both
// CHECK: mtc.contract {{.*}} -> tensor<6x5xf32>
// CHECK: mtc.kernel
func.func @both(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>) -> (tensor<6x5xbf16>, tensor<6x5xf32>) {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %r = mtc.cast %p : tensor<6x5xf32> -> tensor<6x5xbf16>
  return %r, %p : tensor<6x5xbf16>, tensor<6x5xf32>
}

// -----

// CHECK-LABEL: func.func @narrow_residual
// CHECK: mtc.fused_contract {{.*}} adding %arg2 : tensor<6x5xbf16> : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xbf16>
// CHECK-NOT: mtc.kernel
func.func @narrow_residual(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>, %residual: tensor<6x5xbf16>) -> tensor<6x5xbf16> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %c = mtc.cast %residual : tensor<6x5xbf16> -> tensor<6x5xf32>
  %s = mtc.add %p, %c : tensor<6x5xf32>
  %r = mtc.cast %s : tensor<6x5xf32> -> tensor<6x5xbf16>
  return %r : tensor<6x5xbf16>
}

// -----

// An addend of an f32 variable is not rounded to the operands' type first. Another f32 sum adds the rounded result.
// CHECK-LABEL: func.func @to_variable
// CHECK: %[[OLD:.*]] = mtc.read @g
// CHECK: %[[SUM:.*]] = mtc.fused_contract {{.*}} adding %[[OLD]] : tensor<6x5xf32> : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
// CHECK-NEXT: mtc.write @g, %[[SUM]]
// CHECK: mtc.contract {{.*}} -> tensor<6x5xbf16>
// CHECK-NEXT: mtc.kernel
// REMARK: not-fused {{.*}}it is rounded before it is added
mtc.variable gradient @g : tensor<6x5xf32> = #mtc.zeros
func.func @to_variable(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>, %v: tensor<8x5xbf16>, %a: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xbf16>
  %c = mtc.cast %p as storage : tensor<6x5xbf16> -> tensor<6x5xf32>
  %g = mtc.read @g : tensor<6x5xf32>
  %s = mtc.add %g, %c : tensor<6x5xf32>
  mtc.write @g, %s : tensor<6x5xf32>
  %q = mtc.contract %x, %v batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xbf16>
  %d = mtc.cast %q as storage : tensor<6x5xbf16> -> tensor<6x5xf32>
  %t = mtc.add %a, %d : tensor<6x5xf32>
  return %t : tensor<6x5xf32>
}

// -----

// A sum of the first rows of two results is smaller than what the calls compute.
// CHECK-LABEL: func.func @first_rows
// CHECK-COUNT-2: mtc.contract
// CHECK: mtc.kernel
func.func @first_rows(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %w: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %q = mtc.contract %y, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %a = mtc.slice %p offsets [0, 0] strides [1, 1] : tensor<6x5xf32> -> tensor<4x5xf32>
  %b = mtc.slice %q offsets [0, 0] strides [1, 1] : tensor<6x5xf32> -> tensor<4x5xf32>
  %s = mtc.add %a, %b : tensor<4x5xf32>
  return %s : tensor<4x5xf32>
}

// -----

// A 16-bit result would be rounded only if it is not fused, so that programs whose bits must not depend on fusion fuse f32 results only.
// CHECK-LABEL: mtc.program "divided"
// CHECK: %[[P:.*]] = mtc.contract %arg0, %arg1 {{.*}} -> tensor<6x5xbf16>
// CHECK: mtc.kernel {{.*}}(%[[P]]
// CHECK: mtc.fused_contract %arg0, %arg1 {{.*}} -> tensor<6x5xbf16>
mtc.program "divided" stage training ranks <count = 2, tensor = 2> {}
func.func @rounded_before_bias(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>, %b: tensor<5xf32>) -> (tensor<6x5xbf16>, tensor<6x5xbf16>) {
  %c = mtc.broadcast %b axes [0] : tensor<5xf32> -> tensor<6x5xf32>
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xbf16>
  %wide = mtc.cast %p : tensor<6x5xbf16> -> tensor<6x5xf32>
  %s = mtc.add %wide, %c : tensor<6x5xf32>
  %r = mtc.cast %s : tensor<6x5xf32> -> tensor<6x5xbf16>
  %q = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xbf16>, tensor<8x5xbf16> -> tensor<6x5xf32>
  %t = mtc.add %q, %c : tensor<6x5xf32>
  %u = mtc.cast %t : tensor<6x5xf32> -> tensor<6x5xbf16>
  return %r, %u : tensor<6x5xbf16>, tensor<6x5xbf16>
}

// -----

// A call adds terms one after the other, which is another order than that of a sum that is not fused.
// CHECK-LABEL: mtc.program "sums"
// CHECK-LABEL: func.func @sum_of_three
// CHECK: mtc.contract
// CHECK: mtc.kernel
// CHECK-LABEL: func.func @sum_of_two
// CHECK: mtc.fused_contract
// CHECK-NOT: mtc.kernel
mtc.program "sums" stage training ranks <count = 2, tensor = 2> {}
func.func @sum_of_three(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %y: tensor<6x5xf32>, %z: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %y : tensor<6x5xf32>
  %t = mtc.add %z, %s : tensor<6x5xf32>
  return %t : tensor<6x5xf32>
}
func.func @sum_of_two(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %y: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<6x8xf32>, tensor<8x5xf32> -> tensor<6x5xf32>
  %s = mtc.add %p, %y : tensor<6x5xf32>
  return %s : tensor<6x5xf32>
}

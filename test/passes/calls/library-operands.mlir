// Calls that kernels cannot replace get the operands and results that the target's library takes.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-prepare-calls))' | FileCheck %s

module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = bf16>} {

// cuDNN has no f32 results of convolutions of bf16.
// CHECK-LABEL: func.func @wide_result(
// CHECK: %[[NARROW:.*]] = mtc.convolve %{{.*}} -> tensor<2x6x8x8xbf16>
// CHECK: %[[WIDE:.*]] = mtc.cast %[[NARROW]] : tensor<2x6x8x8xbf16> -> tensor<2x6x8x8xf32>
// CHECK: return %[[WIDE]]
func.func @wide_result(%x: tensor<2x8x10x8xbf16>, %w: tensor<8x8x3x3xbf16>) -> tensor<2x6x8x8xf32> {
  %y = mtc.convolve %x, %w before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x8x10x8xbf16>, tensor<8x8x3x3xbf16>) -> tensor<2x6x8x8xf32>
  return %y : tensor<2x6x8x8xf32>
}

// A contraction does.
// CHECK-LABEL: func.func @contraction(
// CHECK: mtc.contract {{.*}} -> tensor<16x16xf32>
// CHECK-NEXT: return
func.func @contraction(%x: tensor<16x16xbf16>) -> tensor<16x16xf32> {
  %y = mtc.contract %x, %x batch [] x [] over [1] x [0] : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// Weights that start at a multiple of 16 bytes are read in place, others are copied.
// CHECK-LABEL: func.func @offsets(
// CHECK-NEXT: mtc.slice %{{.*}} offsets [3, 0, 0, 0]
// CHECK-NEXT: mtc.strided_view %{{.*}} offset 216
// CHECK-NOT: mtc.strided_view
func.func @offsets(%x: tensor<2x8x10x3xbf16>, %w: tensor<16x3x3x3xbf16>) -> (tensor<2x6x8x4xbf16>, tensor<2x6x8x4xbf16>) {
  %eight = mtc.slice %w offsets [8, 0, 0, 0] strides [1, 1, 1, 1] : tensor<16x3x3x3xbf16> -> tensor<4x3x3x3xbf16>
  %three = mtc.slice %w offsets [3, 0, 0, 0] strides [1, 1, 1, 1] : tensor<16x3x3x3xbf16> -> tensor<4x3x3x3xbf16>
  %y = mtc.convolve %x, %eight before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x8x10x3xbf16>, tensor<4x3x3x3xbf16>) -> tensor<2x6x8x4xbf16>
  %z = mtc.convolve %x, %three before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x8x10x3xbf16>, tensor<4x3x3x3xbf16>) -> tensor<2x6x8x4xbf16>
  return %y, %z : tensor<2x6x8x4xbf16>, tensor<2x6x8x4xbf16>
}

}

// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda precision=f32},func.func(mtc-fuse-activations,mtc-form-kernels,mtc-fuse-bias-gradients))' | FileCheck %s --check-prefixes=CHECK,F32
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda precision=tf32},func.func(mtc-fuse-activations,mtc-form-kernels,mtc-fuse-bias-gradients))' | FileCheck %s --check-prefixes=CHECK,TF32

// cuBLASLt's ReLU returns 0 for NaN, so ReLU stays a kernel in all precisions.
// CHECK-LABEL: func.func @relu
// CHECK-NOT: mtc.fused_contract
func.func @relu(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %r = mtc.kernel [4, 16] (%p) : (tensor<4x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%a: tensor<4x16xf32>):
    %zero = arith.constant 0.0 : f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x16xf32> -> f32
    %n = arith.cmpf ole, %v, %zero : f32
    %s = arith.select %n, %zero, %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %r : tensor<4x16xf32>
}

// -----

// The library computes sums of rows in all precisions.
// CHECK-LABEL: func.func @bias_gradient
// CHECK: mtc.fused_contract {{.*}} summing lhs
// CHECK-NOT: mtc.kernel
func.func @bias_gradient(%d: tensor<6x5xf32>, %x: tensor<6x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %w = mtc.contract %d, %x batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  return %w, %s : tensor<5x8xf32>, tensor<5xf32>
}

// -----

// cuDNN's ReLU follows a bias.
// CHECK-LABEL: func.func @convolution
// F32-NOT: mtc.fused_convolve
// TF32: %[[BIAS:.*]] = mtc.strided_view %arg2 offset 0 strides [0, 0, 1] : tensor<4xf32> -> tensor<2x6x4xf32>
// TF32: mtc.fused_convolve %arg0, %arg1 bias %[[BIAS]] : tensor<2x6x4xf32> then relu
// TF32-NOT: mtc.kernel
func.func @convolution(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>, %b: tensor<4xf32>) -> tensor<2x6x4xf32> {
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  %r = mtc.kernel [2, 6, 4] (%y, %b) : (tensor<2x6x4xf32>, tensor<4xf32>) -> tensor<2x6x4xf32> {
  ^bb0(%a: tensor<2x6x4xf32>, %c: tensor<4xf32>):
    %zero = arith.constant 0.0 : f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<2x6x4xf32> -> f32
    %u = mtc.kernel.load %c at affine_map<(d0, d1, d2) -> (d2)> : tensor<4xf32> -> f32
    %z = arith.addf %v, %u : f32
    %n = arith.cmpf ole, %z, %zero : f32
    %s = arith.select %n, %zero, %z : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
  }
  return %r : tensor<2x6x4xf32>
}

// -----

// CHECK-LABEL: func.func @convolution_without_bias
// CHECK-NOT: mtc.fused_convolve
func.func @convolution_without_bias(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x6x4xf32> {
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  %r = mtc.kernel [2, 6, 4] (%y) : (tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  ^bb0(%a: tensor<2x6x4xf32>):
    %zero = arith.constant 0.0 : f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<2x6x4xf32> -> f32
    %n = arith.cmpf ole, %v, %zero : f32
    %s = arith.select %n, %zero, %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
  }
  return %r : tensor<2x6x4xf32>
}

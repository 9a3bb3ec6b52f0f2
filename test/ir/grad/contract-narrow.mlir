// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s

// An f32 cotangent of 16-bit operands is rounded to their type.
// CHECK-LABEL: func.func @narrow_vjp
// CHECK: %[[D:.*]] = mtc.cast %arg2 : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK-DAG: mtc.contract %[[D]], %arg1 {{.*}} : tensor<2x4xbf16>, tensor<3x4xbf16> -> tensor<2x3xbf16>
// CHECK-DAG: mtc.contract %arg0, %[[D]] {{.*}} : tensor<2x3xbf16>, tensor<2x4xbf16> -> tensor<3x4xbf16>
func.func @narrow(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) -> tensor<2x4xf32> {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<2x3xbf16>, tensor<3x4xbf16> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @convolution_vjp
// CHECK: %[[D:.*]] = mtc.cast %arg2 : tensor<2x6x4xf32> -> tensor<2x6x4xf16>
// CHECK-DAG: mtc.transposed_convolve %[[D]], %arg1 {{.*}} -> tensor<2x8x3xf16>
// CHECK-DAG: mtc.convolve_weight_gradient %arg0, %[[D]] {{.*}} -> tensor<4x3x3xf16>
func.func @convolution(%x: tensor<2x8x3xf16>, %w: tensor<4x3x3xf16>) -> tensor<2x6x4xf32> {
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf16>, tensor<4x3x3xf16>) -> tensor<2x6x4xf32>
  return %y : tensor<2x6x4xf32>
}

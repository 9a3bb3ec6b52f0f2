// RUN: mtc-opt %s -canonicalize | FileCheck %s

// A convolution with windows of one element is a contraction.
// CHECK-LABEL: func.func @pointwise
// CHECK: %[[W:.*]] = mtc.reshape %arg1 : tensor<4x3x1x1xf32> -> tensor<4x3xf32>
// CHECK: mtc.contract %arg0, %[[W]] batch [] x [] over [3] x [1] : tensor<2x8x8x3xf32>, tensor<4x3xf32> -> tensor<2x8x8x4xf32>
func.func @pointwise(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x8x8x4xf32> {
  %y = mtc.convolve %x, %w before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x3xf32>, tensor<4x3x1x1xf32>) -> tensor<2x8x8x4xf32>
  return %y : tensor<2x8x8x4xf32>
}

// CHECK-LABEL: func.func @strided
// CHECK: %[[X:.*]] = mtc.slice %arg0 offsets [0, 0, 0, 0] strides [1, 2, 3, 1] : tensor<2x8x8x3xf32> -> tensor<2x4x3x3xf32>
// CHECK: mtc.contract %[[X]], %{{.*}} batch [] x [] over [3] x [1]
func.func @strided(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<2x4x3x4xf32> {
  %y = mtc.convolve %x, %w before [0, 0] strides [2, 3] dilations [1, 1] : (tensor<2x8x8x3xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x3x4xf32>
  return %y : tensor<2x4x3x4xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: %[[X:.*]] = mtc.contract %arg0, %{{.*}} batch [] x [] over [2] x [0] : tensor<2x4x4xf32>, tensor<4x3xf32> -> tensor<2x4x3xf32>
// CHECK: mtc.pad %[[X]] low [0, 0, 0] high [0, 1, 0] interior [0, 1, 0] value 0.000000e+00 : f32 : tensor<2x4x3xf32> -> tensor<2x8x3xf32>
func.func @transposed(%y: tensor<2x4x4xf32>, %w: tensor<4x3x1xf32>) -> tensor<2x8x3xf32> {
  %x = mtc.transposed_convolve %y, %w before [0] strides [2] dilations [1] : (tensor<2x4x4xf32>, tensor<4x3x1xf32>) -> tensor<2x8x3xf32>
  return %x : tensor<2x8x3xf32>
}

// It remains a convolution with padding, with groups, or with windows beyond the input.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: mtc.convolve
func.func @others(%x: tensor<2x8x4xf32>, %w: tensor<4x4x1xf32>, %v: tensor<4x2x1xf32>) -> (tensor<2x9x4xf32>, tensor<2x8x4xf32>, tensor<2x9x4xf32>) {
  %a = mtc.convolve %x, %w before [1] strides [1] dilations [1] : (tensor<2x8x4xf32>, tensor<4x4x1xf32>) -> tensor<2x9x4xf32>
  %b = mtc.convolve %x, %v groups 2 before [0] strides [1] dilations [1] : (tensor<2x8x4xf32>, tensor<4x2x1xf32>) -> tensor<2x8x4xf32>
  %c = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x4xf32>, tensor<4x4x1xf32>) -> tensor<2x9x4xf32>
  return %a, %b, %c : tensor<2x9x4xf32>, tensor<2x8x4xf32>, tensor<2x9x4xf32>
}

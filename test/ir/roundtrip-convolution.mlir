// Every operation of ConvolutionOps.td in the form of the example in its record.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @convolve
func.func @convolve(%x: tensor<8x32x32x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32> {
  // CHECK: mtc.convolve %{{.*}}, %{{.*}} before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
  %y = mtc.convolve %x, %w before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
  return %y : tensor<8x16x16x16xf32>
}

// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<2x5x4xf64>, %w: tensor<6x2x3xf64>) -> tensor<2x5x6xf64> {
  // CHECK: mtc.convolve %{{.*}}, %{{.*}} groups 2 before [1] strides [1] dilations [1] : (tensor<2x5x4xf64>, tensor<6x2x3xf64>) -> tensor<2x5x6xf64>
  %y = mtc.convolve %x, %w groups 2 before [1] strides [1] dilations [1] : (tensor<2x5x4xf64>, tensor<6x2x3xf64>) -> tensor<2x5x6xf64>
  return %y : tensor<2x5x6xf64>
}

// CHECK-LABEL: func.func @transposed_convolve
func.func @transposed_convolve(%y: tensor<8x16x16x16xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<8x32x32x3xf32> {
  // CHECK: mtc.transposed_convolve %{{.*}}, %{{.*}} before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x16x16x16xf32>, tensor<16x3x3x3xf32>) -> tensor<8x32x32x3xf32>
  %x = mtc.transposed_convolve %y, %w before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x16x16x16xf32>, tensor<16x3x3x3xf32>) -> tensor<8x32x32x3xf32>
  return %x : tensor<8x32x32x3xf32>
}

// CHECK-LABEL: func.func @convolve_weight_gradient
func.func @convolve_weight_gradient(%x: tensor<8x32x32x3xf32>, %y: tensor<8x16x16x16xf32>) -> tensor<16x3x3x3xf32> {
  // CHECK: mtc.convolve_weight_gradient %{{.*}}, %{{.*}} before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<8x16x16x16xf32>) -> tensor<16x3x3x3xf32>
  %w = mtc.convolve_weight_gradient %x, %y before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x32x32x3xf32>, tensor<8x16x16x16xf32>) -> tensor<16x3x3x3xf32>
  return %w : tensor<16x3x3x3xf32>
}

// CHECK-LABEL: func.func @fused_convolve
func.func @fused_convolve(%x: tensor<8x32x32x3xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>, %a: tensor<8x16x16x16xf32>) -> tensor<8x16x16x16xf32> {
  // CHECK: %[[B:.*]] = mtc.strided_view
  %v = mtc.strided_view %b offset 0 strides [0, 0, 0, 1] : tensor<16xf32> -> tensor<8x16x16x16xf32>
  // CHECK: mtc.fused_convolve %{{.*}}, %{{.*}} bias %[[B]] : tensor<8x16x16x16xf32> then relu before [1, 1] strides [2, 2] dilations [1, 1] : tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
  %y = mtc.fused_convolve %x, %w bias %v : tensor<8x16x16x16xf32> then relu before [1, 1] strides [2, 2] dilations [1, 1]
         : tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
  // CHECK: mtc.fused_convolve %{{.*}}, %{{.*}} adding %{{.*}} : tensor<8x16x16x16xf32> before
  %z = mtc.fused_convolve %x, %w adding %a : tensor<8x16x16x16xf32> before [1, 1] strides [2, 2] dilations [1, 1]
         : tensor<8x32x32x3xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
  return %z : tensor<8x16x16x16xf32>
}

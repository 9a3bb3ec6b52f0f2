// Canonicalization of windows.
// RUN: mtc-opt %s -canonicalize | FileCheck %s

// Adjacent windows become a reshape, and the remainder is sliced off.
// CHECK-LABEL: func.func @tiles
// CHECK-NEXT: %[[S:.*]] = mtc.slice %arg0 offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x7x6xf32> -> tensor<2x6x6xf32>
// CHECK-NEXT: %[[R:.*]] = mtc.reshape %[[S]] : tensor<2x6x6xf32> -> tensor<2x3x2x2x3xf32>
// CHECK-NEXT: mtc.transpose %[[R]] [0, 1, 3, 2, 4] : tensor<2x3x2x2x3xf32> -> tensor<2x3x2x2x3xf32>
func.func @tiles(%x: tensor<2x7x6xf32>) -> tensor<2x3x2x2x3xf32> {
  %w = mtc.windows %x axes [1, 2] strides [2, 3] dilations [1, 1] : tensor<2x7x6xf32> -> tensor<2x3x2x2x3xf32>
  return %w : tensor<2x3x2x2x3xf32>
}

// Windows of one element become a slice.
// CHECK-LABEL: func.func @one_tap
// CHECK-NEXT: %[[S:.*]] = mtc.slice %arg0 offsets [0, 0] strides [1, 2] : tensor<2x8xf32> -> tensor<2x4xf32>
// CHECK-NEXT: mtc.reshape %[[S]] : tensor<2x4xf32> -> tensor<2x4x1xf32>
func.func @one_tap(%x: tensor<2x8xf32>) -> tensor<2x4x1xf32> {
  %w = mtc.windows %x axes [1] strides [2] dilations [5] : tensor<2x8xf32> -> tensor<2x4x1xf32>
  return %w : tensor<2x4x1xf32>
}

// CHECK-LABEL: func.func @windows_that_stay
// CHECK: mtc.windows
// CHECK: mtc.windows
func.func @windows_that_stay(%x: tensor<8xf32>) -> (tensor<7x2xf32>, tensor<2x2xf32>) {
  %a = mtc.windows %x axes [0] strides [1] dilations [1] : tensor<8xf32> -> tensor<7x2xf32>
  %b = mtc.windows %x axes [0] strides [2] dilations [2] : tensor<8xf32> -> tensor<2x2xf32>
  return %a, %b : tensor<7x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @no_axes
// CHECK-NEXT: return %arg0, %arg0
func.func @no_axes(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = mtc.windows %x axes [] strides [] dilations [] : tensor<8xf32> -> tensor<8xf32>
  %b = mtc.overlap_add %x axes [] offsets [] strides [] dilations [] : tensor<8xf32> -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: mtc.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi64>
// CHECK-DAG: mtc.constant dense<2.000000e+00> : tensor<3x2xf32>
// CHECK-DAG: mtc.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<0> : tensor<5xi64>
// CHECK-NEXT: return
func.func @constants(%n: tensor<0x2xi64>) -> (tensor<2x2xi64>, tensor<3x2xf32>, tensor<4xf32>, tensor<5xi64>) {
  %c = mtc.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %a = mtc.windows %c axes [0] strides [1] dilations [2] : tensor<4xi64> -> tensor<2x2xi64>
  %d = mtc.constant dense<2.0> : tensor<4xf32>
  %b = mtc.windows %d axes [0] strides [1] dilations [1] : tensor<4xf32> -> tensor<3x2xf32>
  %z = mtc.constant dense<0.0> : tensor<3x2xf32>
  %s = mtc.overlap_add %z axes [0] offsets [0] strides [1] dilations [1] : tensor<3x2xf32> -> tensor<4xf32>
  %t = mtc.overlap_add %n axes [0] offsets [0] strides [1] dilations [1] : tensor<0x2xi64> -> tensor<5xi64>
  return %a, %b, %s, %t : tensor<2x2xi64>, tensor<3x2xf32>, tensor<4xf32>, tensor<5xi64>
}

// CHECK-LABEL: func.func @add_tiles
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %arg0 [0, 2, 1, 3] : tensor<3x2x2x3xf32> -> tensor<3x2x2x3xf32>
// CHECK-NEXT: %[[R:.*]] = mtc.reshape %[[T]] : tensor<3x2x2x3xf32> -> tensor<6x6xf32>
// CHECK-NEXT: mtc.pad %[[R]] low [0, 0] high [1, 0] interior [0, 0] value 0.000000e+00 : f32 : tensor<6x6xf32> -> tensor<7x6xf32>
func.func @add_tiles(%y: tensor<3x2x2x3xf32>) -> tensor<7x6xf32> {
  %x = mtc.overlap_add %y axes [0, 1] offsets [0, 0] strides [2, 3] dilations [1, 1] : tensor<3x2x2x3xf32> -> tensor<7x6xf32>
  return %x : tensor<7x6xf32>
}

// CHECK-LABEL: func.func @add_one_tap
// CHECK-NEXT: %[[R:.*]] = mtc.reshape %arg0 : tensor<4x1xf32> -> tensor<4xf32>
// CHECK-NEXT: mtc.pad %[[R]] low [0] high [1] interior [1] value 0.000000e+00 : f32 : tensor<4xf32> -> tensor<8xf32>
func.func @add_one_tap(%y: tensor<4x1xf32>) -> tensor<8xf32> {
  %x = mtc.overlap_add %y axes [0] offsets [0] strides [2] dilations [1] : tensor<4x1xf32> -> tensor<8xf32>
  return %x : tensor<8xf32>
}

// Windows outside of the slice are not summed.
// CHECK-LABEL: func.func @slice_of_overlap_add
// CHECK-NEXT: %[[X:.*]] = mtc.overlap_add %arg0 axes [1] offsets [3] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @slice_of_overlap_add(%y: tensor<2x6x3xf32>) -> tensor<2x4xf32> {
  %x = mtc.overlap_add %y axes [1] offsets [1] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x7xf32>
  %s = mtc.slice %x offsets [0, 2] strides [1, 1] : tensor<2x7xf32> -> tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @slices_that_stay
// CHECK-COUNT-2: mtc.slice
func.func @slices_that_stay(%y: tensor<2x6x3xf32>, %z: tensor<2x6x3xf32>) -> (tensor<2x4xf32>, tensor<1x8xf32>) {
  %x = mtc.overlap_add %y axes [1] offsets [0] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  %s = mtc.slice %x offsets [0, 0] strides [1, 2] : tensor<2x8xf32> -> tensor<2x4xf32>
  %w = mtc.overlap_add %z axes [1] offsets [0] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  %t = mtc.slice %w offsets [1, 0] strides [1, 1] : tensor<2x8xf32> -> tensor<1x8xf32>
  return %s, %t : tensor<2x4xf32>, tensor<1x8xf32>
}

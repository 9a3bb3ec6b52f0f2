// Every operation of WindowOps.td in the form of the example in its record.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<8x3x32x32xf32>) -> tensor<8x3x15x15x3x3xf32> {
  // CHECK: mtc.windows %{{.*}} axes [2, 3] strides [2, 2] dilations [1, 1] : tensor<8x3x32x32xf32> -> tensor<8x3x15x15x3x3xf32>
  %w = mtc.windows %x axes [2, 3] strides [2, 2] dilations [1, 1] : tensor<8x3x32x32xf32> -> tensor<8x3x15x15x3x3xf32>
  return %w : tensor<8x3x15x15x3x3xf32>
}

// CHECK-LABEL: func.func @overlap_add
func.func @overlap_add(%y: tensor<8x3x15x15x3x3xf32>) -> tensor<8x3x30x30xf32> {
  // CHECK: mtc.overlap_add %{{.*}} axes [2, 3] offsets [1, 1] strides [2, 2] dilations [1, 1] : tensor<8x3x15x15x3x3xf32> -> tensor<8x3x30x30xf32>
  %x = mtc.overlap_add %y axes [2, 3] offsets [1, 1] strides [2, 2] dilations [1, 1] : tensor<8x3x15x15x3x3xf32> -> tensor<8x3x30x30xf32>
  return %x : tensor<8x3x30x30xf32>
}

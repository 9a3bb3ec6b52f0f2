// RUN: mtc-opt %s -canonicalize | FileCheck %s

// A gather of one known index becomes a slice, whose gradient is a pad.
// CHECK-LABEL: func.func @gather_of_one
// CHECK-NEXT: %[[S:.*]] = mtc.slice %arg0 offsets [0, 9, 0] strides [1, 1, 1] : tensor<4x10x8xf32> -> tensor<4x1x8xf32>
// CHECK-NEXT: mtc.reshape %[[S]] : tensor<4x1x8xf32> -> tensor<4x8xf32>
func.func @gather_of_one(%x: tensor<4x10x8xf32>) -> tensor<4x8xf32> {
  %i = mtc.constant dense<-1> : tensor<i64>
  %y = mtc.gather %x, %i axis 1 batch 0 : tensor<4x10x8xf32>, tensor<i64> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The run reports an out-of-bounds index, with the node's name.
// CHECK-LABEL: func.func @gather_outside
// CHECK: mtc.gather
func.func @gather_outside(%x: tensor<4x10xf32>) -> tensor<4xf32> {
  %i = mtc.constant dense<10> : tensor<i64>
  %y = mtc.gather %x, %i axis 1 batch 0 : tensor<4x10xf32>, tensor<i64> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<2x3xi64>)
// CHECK: mtc.gather %[[X]], %[[I]] axis 1 batch 0 : tensor<4x5xf32>, tensor<2x3xi64> -> tensor<4x2x3xf32>
onnx.graph @main(%x: tensor<4x5xf32>, %i: tensor<2x3xi64>) -> tensor<4x2x3xf32> {
  %y = onnx.node "Gather" version 13 (%x, %i) {axis = -1 : si64} : (tensor<4x5xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
  onnx.return %y : tensor<4x2x3xf32>
}

// -----

// Constant positions at equal distances become a slice, whose gradient needs no scatter.

// CHECK: func.func @forward(%[[X:.*]]: tensor<6x3xf32>)
// CHECK-NEXT: %[[S:.*]] = mtc.slice %[[X]] offsets [1, 0] strides [2, 1] : tensor<6x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: mtc.reshape %[[S]] : tensor<2x3xf32> -> tensor<1x2x3xf32>
// CHECK-NEXT: %[[R:.*]] = mtc.slice %[[X]] offsets [5, 0] strides [1, 1] : tensor<6x3xf32> -> tensor<1x3xf32>
// CHECK: mtc.broadcast %{{.*}} axes [0, 1] : tensor<3xf32> -> tensor<2x2x3xf32>
// CHECK-NOT: mtc.gather
// CHECK: return
onnx.graph @main(%x: tensor<6x3xf32>) -> (tensor<1x2x3xf32>, tensor<2x2x3xf32>) {
  %i = onnx.constant dense<[[1, 3]]> : tensor<1x2xi64> -> tensor<1x2xi64>
  %j = onnx.constant dense<-1> : tensor<2x2xi64> -> tensor<2x2xi64>
  %y = onnx.node "Gather" version 13 (%x, %i) {axis = 0 : si64} : (tensor<6x3xf32>, tensor<1x2xi64>) -> tensor<1x2x3xf32>
  %z = onnx.node "Gather" version 13 (%x, %j) {axis = 0 : si64} : (tensor<6x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  onnx.return %y, %z : tensor<1x2x3xf32>, tensor<2x2x3xf32>
}

// -----

// If all axes but one are common, the node is a gather along the last axis. The indices may have smaller extents.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<2x3xi64>)
// CHECK: %[[S:.*]] = mtc.slice %[[X]] offsets [0, 0] strides [1, 1] : tensor<4x5xf32> -> tensor<4x3xf32>
// CHECK-DAG: %[[XT:.*]] = mtc.transpose %[[S]] [1, 0]
// CHECK-DAG: %[[IT:.*]] = mtc.transpose %[[I]] [1, 0]
// CHECK: %[[Y:.*]] = mtc.gather %[[XT]], %[[IT]] axis 1 batch 1 : tensor<3x4xf32>, tensor<3x2xi64> -> tensor<3x2xf32>
// CHECK: mtc.transpose %[[Y]] [1, 0]
onnx.graph @main(%x: tensor<4x5xf32>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %y = onnx.node "GatherElements" version 13 (%x, %i) {axis = 0 : si64} : (tensor<4x5xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  onnx.return %y : tensor<2x3xf32>
}

// -----

// A table of zeros contains zeros, so that token types are known.

// CHECK: func.func @forward(%{{.*}}: tensor<2x3xi64>, %[[T:.*]]: tensor<2x8xf32>)
// CHECK-NOT: mtc.gather
// CHECK: %[[ROW:.*]] = mtc.slice %[[T]] offsets [0, 0]
// CHECK: mtc.broadcast %{{.*}} axes [0, 1]
onnx.graph @main(%i: tensor<2x3xi64>, %t: tensor<2x8xf32>) -> tensor<2x3x8xf32> {
  %zeros = onnx.constant dense<0> : tensor<2x9xi64> -> tensor<2x9xi64>
  %types = onnx.node "GatherElements" version 13 (%zeros, %i) {axis = 1 : si64} : (tensor<2x9xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
  %y = onnx.node "Gather" version 13 (%t, %types) {} : (tensor<2x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  onnx.return %y : tensor<2x3x8xf32>
}

// -----

// Tuples become positions; negative components count from the end, and an out-of-bounds one makes the position invalid.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5x6xf32>, %[[I:.*]]: tensor<3x2xi64>)
// CHECK: %[[F:.*]] = mtc.reshape %[[X]] : tensor<4x5x6xf32> -> tensor<20x6xf32>
// CHECK: mtc.and
// CHECK: mtc.and
// CHECK: %[[POSITION:.*]] = mtc.add
// CHECK: %[[VALID:.*]] = mtc.and
// CHECK: %[[OUTSIDE:.*]] = mtc.constant dense<20>
// CHECK: %[[P:.*]] = mtc.select %[[VALID]], %[[POSITION]], %[[OUTSIDE]]
// CHECK: mtc.gather %[[F]], %[[P]] axis 0 batch 0
onnx.graph @main(%x: tensor<4x5x6xf32>, %i: tensor<3x2xi64>) -> tensor<3x6xf32> {
  %y = onnx.node "GatherND" version 13 (%x, %i) {} : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
  onnx.return %y : tensor<3x6xf32>
}

// -----

// Constant tuples of all positions in order are a reshape of the operand.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x2xf32>)
// CHECK-NEXT: %[[F:.*]] = mtc.reshape %[[X]] : tensor<2x2xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = mtc.reshape %[[F]] : tensor<4xf32> -> tensor<2x1x2xf32>
// CHECK-NEXT: return %[[Y]]
onnx.graph @main(%x: tensor<2x2xf32>) -> tensor<2x1x2xf32> {
  %i = onnx.constant dense<[[[[0, 0], [0, 1]]], [[[1, 0], [-1, -1]]]]> : tensor<2x1x2x2xi64> -> tensor<2x1x2x2xi64>
  %y = onnx.node "GatherND" version 13 (%x, %i) {} : (tensor<2x2xf32>, tensor<2x1x2x2xi64>) -> tensor<2x1x2xf32>
  onnx.return %y : tensor<2x1x2xf32>
}

// -----

// The leading batch axes are common.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x5x6xf32>, %{{.*}}: tensor<2x3x1xi64>)
// CHECK: %[[I:.*]] = mtc.reshape %{{.*}} -> tensor<2x3xi64>
// CHECK: mtc.gather %[[X]], %[[I]] axis 1 batch 1 : tensor<2x5x6xf32>, tensor<2x3xi64> -> tensor<2x3x6xf32>
onnx.graph @main(%x: tensor<2x5x6xf32>, %i: tensor<2x3x1xi64>) -> tensor<2x3x6xf32> {
  %y = onnx.node "GatherND" version 13 (%x, %i) {batch_dims = 1 : si64} : (tensor<2x5x6xf32>, tensor<2x3x1xi64>) -> tensor<2x3x6xf32>
  onnx.return %y : tensor<2x3x6xf32>
}

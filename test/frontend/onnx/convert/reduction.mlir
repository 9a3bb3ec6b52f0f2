// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// Axes are an attribute or an operand, may count from the end, and stay as extents of 1 with keepdims.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: %[[S:.*]] = mtc.reduce add %[[X]] axes [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
// CHECK: mtc.reshape %[[S]] : tensor<3xf32> -> tensor<1x3x1xf32>
// CHECK: %[[T:.*]] = mtc.reduce add %[[X]] axes [1]
// CHECK: %[[N:.*]] = mtc.constant dense<0.333333343>
// CHECK: mtc.mul %[[T]], %[[N]]
// CHECK: mtc.reduce max %[[X]] axes [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
onnx.graph @main(%x: tensor<2x3x4xf32>) -> (tensor<1x3x1xf32>, tensor<2x4xf32>, tensor<f32>) {
  %a = onnx.constant dense<[-1, 0]> : tensor<2xi64> -> tensor<2xi64>
  %s = onnx.node "ReduceSum" version 13 (%x, %a) {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
  %m = onnx.node "ReduceMean" version 13 (%x) {axes = array<i64: 1>, keepdims = 0 : si64} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %t = onnx.node "ReduceMax" version 13 (%x) {keepdims = 0 : si64} : (tensor<2x3x4xf32>) -> tensor<f32>
  onnx.return %s, %m, %t : tensor<1x3x1xf32>, tensor<2x4xf32>, tensor<f32>
}

// -----

// Without axes, a node with noop_with_empty_axes reduces nothing.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]]
onnx.graph @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.node "ReduceSum" version 13 (%x) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.return %s : tensor<2x3xf32>
}

// -----

// The gradient of the norm at 0 is 0, because the operand of the square root is never 0.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[Q:.*]] = mtc.mul %[[X]], %[[X]]
// CHECK: %[[S:.*]] = mtc.reduce add %[[Q]] axes [0]
// CHECK: %[[Z:.*]] = mtc.compare eq %[[S]]
// CHECK: %[[P:.*]] = mtc.select %[[Z]], %{{.*}}, %[[S]]
// CHECK: %[[R:.*]] = mtc.sqrt %[[P]]
// CHECK: mtc.select %[[Z]], %{{.*}}, %[[R]]
onnx.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
  %s = onnx.node "ReduceL2" version 18 (%x) {keepdims = 0 : si64} : (tensor<4xf32>) -> tensor<f32>
  onnx.return %s : tensor<f32>
}

// -----

// Booleans reduce by or and and; a reduction of nothing is the neutral element.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4xi1>, %{{.*}}: tensor<2x0xf32>)
// CHECK: mtc.reduce or %[[X]]
// CHECK: mtc.reduce and %[[X]]
// CHECK: mtc.constant dense<0xFF800000> : tensor<2xf32>
// CHECK: mtc.constant dense<1.000000e+00> : tensor<2xf32>
onnx.graph @main(%x: tensor<4xi1>, %e: tensor<2x0xf32>) -> (tensor<i1>, tensor<i1>, tensor<2xf32>, tensor<2xf32>) {
  %one = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %a = onnx.node "ReduceMax" version 20 (%x) {keepdims = 0 : si64} : (tensor<4xi1>) -> tensor<i1>
  %b = onnx.node "ReduceMin" version 20 (%x) {keepdims = 0 : si64} : (tensor<4xi1>) -> tensor<i1>
  %c = onnx.node "ReduceMax" version 20 (%e, %one) {keepdims = 0 : si64} : (tensor<2x0xf32>, tensor<1xi64>) -> tensor<2xf32>
  %d = onnx.node "ReduceProd" version 18 (%e, %one) {keepdims = 0 : si64} : (tensor<2x0xf32>, tensor<1xi64>) -> tensor<2xf32>
  onnx.return %a, %b, %c, %d : tensor<i1>, tensor<i1>, tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>)
// CHECK: mtc.cumulative_sum %[[X]] axis 1 exclusive reverse
onnx.graph @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %a = onnx.constant dense<-1> : tensor<i64> -> tensor<i64>
  %y = onnx.node "CumSum" version 14 (%x, %a) {exclusive = 1 : si64, reverse = 1 : si64} : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  onnx.return %y : tensor<4x5xf32>
}

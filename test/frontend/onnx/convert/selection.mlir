// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>)
// CHECK: %[[T:.*]] = mtc.transpose %[[X]] [1, 0]
// CHECK: %[[V:.*]], %[[I:.*]] = mtc.top_k %[[T]] smallest : tensor<5x4xf32> -> tensor<5x2xf32>, tensor<5x2xi64>
// CHECK: mtc.transpose %[[V]] [1, 0]
// CHECK: mtc.transpose %[[I]] [1, 0]
onnx.graph @main(%x: tensor<4x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %k = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  %v, %i = onnx.node "TopK" version 11 (%x, %k) {axis = 0 : si64, largest = 0 : si64} : (tensor<4x5xf32>, tensor<1xi64>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  onnx.return %v, %i : tensor<2x5xf32>, tensor<2x5xi64>
}

// -----

// The last of equal elements is the first of the reversed axis.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x6xf32>)
// CHECK: %[[R:.*]] = mtc.reverse %[[X]] axes [1]
// CHECK: %{{.*}}, %[[I:.*]] = mtc.top_k %[[R]] : tensor<4x6xf32> -> tensor<4x1xf32>, tensor<4x1xi64>
// CHECK: %[[N:.*]] = mtc.constant dense<5>
// CHECK: %[[L:.*]] = mtc.sub %[[N]], %[[I]]
// CHECK: mtc.reshape %[[L]] : tensor<4x1xi64> -> tensor<4xi64>
onnx.graph @main(%x: tensor<4x6xf32>) -> tensor<4xi64> {
  %i = onnx.node "ArgMax" version 13 (%x) {axis = 1 : si64, keepdims = 0 : si64, select_last_index = 1 : si64} : (tensor<4x6xf32>) -> tensor<4xi64>
  onnx.return %i : tensor<4xi64>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x4x4xf32>)
// CHECK: %[[COLUMN:.*]] = mtc.iota 1 : tensor<4x4xi64>
// CHECK: %[[ROW:.*]] = mtc.iota 0 : tensor<4x4xi64>
// CHECK: %[[D:.*]] = mtc.sub %{{.*}}, %{{.*}}
// CHECK: %[[K:.*]] = mtc.compare le %[[D]]
// CHECK: %[[B:.*]] = mtc.broadcast %[[K]] axes [0]
// CHECK: mtc.select %[[B]], %[[X]]
onnx.graph @main(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %y = onnx.node "Trilu" version 14 (%x) {upper = 0 : si64} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  onnx.return %y : tensor<2x4x4xf32>
}

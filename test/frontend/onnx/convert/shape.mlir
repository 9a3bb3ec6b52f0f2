// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: mtc.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<6x4xf32>
// CHECK: mtc.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<2x12xf32>
// CHECK: %[[U:.*]] = mtc.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<2x1x3x4xf32>
// CHECK: mtc.reshape %[[U]] : tensor<2x1x3x4xf32> -> tensor<2x3x4xf32>
onnx.graph @main(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<2x12xf32>, tensor<2x3x4xf32>) {
  %s = onnx.constant dense<[-1, 4]> : tensor<2xi64> -> tensor<2xi64>
  %a = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Reshape" version 19 (%x, %s) {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %f = onnx.node "Flatten" version 13 (%x) {} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %u = onnx.node "Unsqueeze" version 13 (%x, %a) {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x1x3x4xf32>
  %q = onnx.node "Squeeze" version 13 (%u, %a) {} : (tensor<2x1x3x4xf32>, tensor<1xi64>) -> tensor<2x3x4xf32>
  onnx.return %r, %f, %q : tensor<6x4xf32>, tensor<2x12xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<3x1xf32>)
// CHECK: %[[S:.*]] = mtc.reshape %[[X]] : tensor<3x1xf32> -> tensor<3xf32>
// CHECK: mtc.broadcast %[[S]] axes [0, 2] : tensor<3xf32> -> tensor<2x3x4xf32>
onnx.graph @main(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %s = onnx.constant dense<[2, 1, 4]> : tensor<3xi64> -> tensor<3xi64>
  %y = onnx.node "Expand" version 13 (%x, %s) {} : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  onnx.return %y : tensor<2x3x4xf32>
}

// -----

// Only the broadcast axes are split.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x5xf32>)
// CHECK: %[[B:.*]] = mtc.broadcast %[[X]] axes [1] : tensor<2x5xf32> -> tensor<2x3x5xf32>
// CHECK: mtc.reshape %[[B]] : tensor<2x3x5xf32> -> tensor<2x15xf32>
onnx.graph @main(%x: tensor<2x5xf32>) -> tensor<2x15xf32> {
  %r = onnx.constant dense<[1, 3]> : tensor<2xi64> -> tensor<2xi64>
  %y = onnx.node "Tile" version 13 (%x, %r) {} : (tensor<2x5xf32>, tensor<2xi64>) -> tensor<2x15xf32>
  onnx.return %y : tensor<2x15xf32>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<1x8x2x3xf32>)
// CHECK: mtc.reshape %[[X]] : tensor<1x8x2x3xf32> -> tensor<1x2x2x2x2x3xf32>
// CHECK: mtc.transpose %{{.*}} [0, 1, 4, 2, 5, 3]
// CHECK: mtc.reshape %{{.*}} -> tensor<1x2x4x6xf32>
onnx.graph @main(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %y = onnx.node "DepthToSpace" version 13 (%x) {blocksize = 2 : si64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  onnx.return %y : tensor<1x2x4x6xf32>
}

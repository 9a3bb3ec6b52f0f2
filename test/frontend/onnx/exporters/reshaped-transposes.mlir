// RUN: mtc-opt %s --onnx-merge-reshaped-transposes --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// A transpose of the last two axes through three dimensions becomes one node.

// CHECK: onnx.graph @main(%[[X:.*]]: tensor<2x3x4x5xf32>)
// CHECK-NOT: "Reshape"
// CHECK: %[[Y:.*]] = onnx.node "Transpose" version 13(%[[X]]) {perm = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @main(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x5x4xf32> {
  %s = onnx.constant dense<[-1, 4, 5]> : tensor<3xi64> -> tensor<3xi64>
  %t = onnx.constant dense<[2, 3, 5, 4]> : tensor<4xi64> -> tensor<4xi64>
  %a = onnx.node "Reshape" version 19 (%x, %s) {} : (tensor<2x3x4x5xf32>, tensor<3xi64>) -> tensor<6x4x5xf32>
  %b = onnx.node "Transpose" version 13 (%a) {perm = array<i64: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
  %y = onnx.node "Reshape" version 19 (%b, %t) {} : (tensor<6x5x4xf32>, tensor<4xi64>) -> tensor<2x3x5x4xf32>
  onnx.return %y : tensor<2x3x5x4xf32>
}

// -----

// Other leading axes, and matrices that are not the operand's, are not replaced.

// CHECK: onnx.graph @main
// CHECK-COUNT-4: "Reshape"
onnx.graph @main(%x: tensor<2x3x4x5xf32>, %z: tensor<2x3x4x4xf32>) -> (tensor<3x2x5x4xf32>, tensor<2x3x4x4xf32>) {
  %s = onnx.constant dense<[-1, 4, 5]> : tensor<3xi64> -> tensor<3xi64>
  %t = onnx.constant dense<[3, 2, 5, 4]> : tensor<4xi64> -> tensor<4xi64>
  %a = onnx.node "Reshape" version 19 (%x, %s) {} : (tensor<2x3x4x5xf32>, tensor<3xi64>) -> tensor<6x4x5xf32>
  %b = onnx.node "Transpose" version 13 (%a) {perm = array<i64: 0, 2, 1>} : (tensor<6x4x5xf32>) -> tensor<6x5x4xf32>
  %y = onnx.node "Reshape" version 19 (%b, %t) {} : (tensor<6x5x4xf32>, tensor<4xi64>) -> tensor<3x2x5x4xf32>
  %u = onnx.constant dense<[6, 2, 8]> : tensor<3xi64> -> tensor<3xi64>
  %v = onnx.constant dense<[2, 3, 4, 4]> : tensor<4xi64> -> tensor<4xi64>
  %c = onnx.node "Reshape" version 19 (%z, %u) {} : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<6x2x8xf32>
  %d = onnx.node "Transpose" version 13 (%c) {perm = array<i64: 0, 2, 1>} : (tensor<6x2x8xf32>) -> tensor<6x8x2xf32>
  %w = onnx.node "Reshape" version 19 (%d, %v) {} : (tensor<6x8x2xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  onnx.return %y, %w : tensor<3x2x5x4xf32>, tensor<2x3x4x4xf32>
}

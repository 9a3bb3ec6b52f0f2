// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: mtc.transpose %[[X]] [2, 1, 0]
// CHECK: mtc.transpose %[[X]] [0, 2, 1]
onnx.graph @main(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x4x3xf32>) {
  %y = onnx.node "Transpose" version 13 (%x) {} : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %z = onnx.node "Transpose" version 13 (%x) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  onnx.return %y, %z : tensor<4x3x2xf32>, tensor<2x4x3xf32>
}

// -----

// A negative step slices in ascending order and reverses; bounds count from the end and are clamped.

// CHECK: func.func @forward(%[[X:.*]]: tensor<10x4xf32>)
// CHECK: %[[S:.*]] = mtc.slice %[[X]] offsets [1, 1] strides [3, 1] : tensor<10x4xf32> -> tensor<3x2xf32>
// CHECK: mtc.reverse %[[S]] axes [0]
onnx.graph @main(%x: tensor<10x4xf32>) -> tensor<3x2xf32> {
  %starts = onnx.constant dense<[-3, 1]> : tensor<2xi64> -> tensor<2xi64>
  %ends = onnx.constant dense<[-9223372036854775808, -1]> : tensor<2xi64> -> tensor<2xi64>
  %axes = onnx.constant dense<[0, -1]> : tensor<2xi64> -> tensor<2xi64>
  %steps = onnx.constant dense<[-3, 1]> : tensor<2xi64> -> tensor<2xi64>
  %y = onnx.node "Slice" version 13 (%x, %starts, %ends, %axes, %steps) {} : (tensor<10x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x2xf32>
  onnx.return %y : tensor<3x2xf32>
}

// -----

// Before version 10 the bounds are attributes.

// CHECK: func.func @forward(%[[X:.*]]: tensor<11x4xf32>)
// CHECK: mtc.slice %[[X]] offsets [0, 1] strides [1, 1] : tensor<11x4xf32> -> tensor<11x3xf32>
onnx.graph @main(%x: tensor<11x4xf32>) -> tensor<11x3xf32> {
  %y = onnx.node "Slice" version 1 (%x) {axes = array<i64: 1>, starts = array<i64: 1>, ends = array<i64: 4>} : (tensor<11x4xf32>) -> tensor<11x3xf32>
  onnx.return %y : tensor<11x3xf32>
}

// -----

// Split has equal parts with a smaller last one, or given extents. An unused part needs no operation.

// CHECK: func.func @forward(%[[X:.*]]: tensor<7xf32>)
// CHECK-NEXT: mtc.slice %[[X]] offsets [0] strides [1] : tensor<7xf32> -> tensor<3xf32>
// CHECK-NEXT: mtc.slice %[[X]] offsets [6] strides [1] : tensor<7xf32> -> tensor<1xf32>
// CHECK-NEXT: mtc.slice %[[X]] offsets [0] strides [1] : tensor<7xf32> -> tensor<2xf32>
// CHECK-NEXT: mtc.slice %[[X]] offsets [2] strides [1] : tensor<7xf32> -> tensor<5xf32>
// CHECK-NEXT: return
onnx.graph @main(%x: tensor<7xf32>) -> (tensor<3xf32>, tensor<1xf32>, tensor<2xf32>, tensor<5xf32>) {
  %a, %b, %c = onnx.node "Split" version 18 (%x) {num_outputs = 3 : si64} : (tensor<7xf32>) -> (tensor<3xf32>, none, tensor<1xf32>)
  %s = onnx.constant dense<[2, 5]> : tensor<2xi64> -> tensor<2xi64>
  %d, %e = onnx.node "Split" version 13 (%x, %s) {axis = 0 : si64} : (tensor<7xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<5xf32>)
  onnx.return %a, %c, %d, %e : tensor<3xf32>, tensor<1xf32>, tensor<2xf32>, tensor<5xf32>
}

// -----

// With more parts than elements, the last parts are smaller or empty.

// CHECK: func.func @forward(%[[X:.*]]: tensor<5x3xf32>)
// CHECK-NEXT: mtc.slice %[[X]] offsets [0, 0] strides [1, 1] : tensor<5x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: mtc.slice %[[X]] offsets [2, 0] strides [1, 1] : tensor<5x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: mtc.slice %[[X]] offsets [4, 0] strides [1, 1] : tensor<5x3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: return
onnx.graph @main(%x: tensor<5x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) {
  %a, %b, %c, %d = onnx.node "Split" version 18 (%x) {num_outputs = 4 : si64} : (tensor<5x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>, none)
  onnx.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>
}

// -----

// Operands without elements are ignored.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3xf32>, %{{.*}}: tensor<2x0xf32>, %[[Y:.*]]: tensor<2x1xf32>)
// CHECK-NEXT: mtc.concatenate %[[X]], %[[Y]] axis 1
onnx.graph @main(%x: tensor<2x3xf32>, %e: tensor<2x0xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %z = onnx.node "Concat" version 13 (%x, %e, %y) {axis = -1 : si64} : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  onnx.return %z : tensor<2x4xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[A:.*]]: tensor<3x2xf32>, %[[B:.*]]: tensor<4x3xf32>, %[[C:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = mtc.contract %[[A]], %[[B]] batch [] x [] over [0] x [1] : tensor<3x2xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
// CHECK: %[[S:.*]] = mtc.mul %[[Y]], %{{.*}}
// CHECK: %[[R:.*]] = mtc.broadcast %[[C]] axes [0]
// CHECK: %[[T:.*]] = mtc.mul %[[R]], %{{.*}}
// CHECK: mtc.add %[[S]], %[[T]]
onnx.graph @main(%a: tensor<3x2xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %y = onnx.node "Gemm" version 13 (%a, %b, %c) {transA = 1 : si64, transB = 1 : si64, alpha = 0.5 : f32, beta = 2.0 : f32} : (tensor<3x2xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  onnx.return %y : tensor<2x4xf32>
}

// -----

// A matrix on the right: the leading axes are merged into rows.

// CHECK: func.func @forward(%[[A:.*]]: tensor<5x2x3xf32>, %[[B:.*]]: tensor<3x4xf32>)
// CHECK: %[[F:.*]] = mtc.reshape %[[A]] : tensor<5x2x3xf32> -> tensor<10x3xf32>
// CHECK: %[[Y:.*]] = mtc.contract %[[F]], %[[B]] batch [] x [] over [1] x [0]
// CHECK: mtc.reshape %[[Y]] : tensor<10x4xf32> -> tensor<5x2x4xf32>
onnx.graph @main(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
  %y = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  onnx.return %y : tensor<5x2x4xf32>
}

// -----

// CHECK: func.func @forward(%[[A:.*]]: tensor<5x6x2x3xf32>, %[[B:.*]]: tensor<5x6x3x4xf32>)
// CHECK-NEXT: mtc.contract %[[A]], %[[B]] batch [0, 1] x [0, 1] over [3] x [2]
// CHECK-NEXT: return
onnx.graph @main(%a: tensor<5x6x2x3xf32>, %b: tensor<5x6x3x4xf32>) -> tensor<5x6x2x4xf32> {
  %y = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<5x6x2x3xf32>, tensor<5x6x3x4xf32>) -> tensor<5x6x2x4xf32>
  onnx.return %y : tensor<5x6x2x4xf32>
}

// -----

// Axes that one operand lacks are free axes of the other: nothing is broadcast in memory.

// CHECK: func.func @forward(%[[A:.*]]: tensor<5x1x7x2x3xf32>, %[[B:.*]]: tensor<6x7x3x4xf32>)
// CHECK-NEXT: %[[L:.*]] = mtc.reshape %[[A]] : tensor<5x1x7x2x3xf32> -> tensor<5x7x2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = mtc.contract %[[L]], %[[B]] batch [1] x [1] over [3] x [2] : {{.*}} -> tensor<7x5x2x6x4xf32>
// CHECK-NEXT: mtc.transpose %[[Y]] [1, 3, 0, 2, 4] : tensor<7x5x2x6x4xf32> -> tensor<5x6x7x2x4xf32>
onnx.graph @main(%a: tensor<5x1x7x2x3xf32>, %b: tensor<6x7x3x4xf32>) -> tensor<5x6x7x2x4xf32> {
  %y = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<5x1x7x2x3xf32>, tensor<6x7x3x4xf32>) -> tensor<5x6x7x2x4xf32>
  onnx.return %y : tensor<5x6x7x2x4xf32>
}

// -----

// A vector on the left is a row, on the right a column.

// CHECK: func.func @forward(%[[V:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<5x3x4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = mtc.reshape %[[V]] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK: mtc.contract %{{.*}}, %[[B]]
// CHECK: %[[Y:.*]] = mtc.reshape %{{.*}} -> tensor<5x4xf32>
// CHECK: %[[C:.*]] = mtc.reshape %[[W]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK: mtc.contract %[[Y]], %[[C]]
// CHECK: mtc.reshape %{{.*}} -> tensor<5xf32>
onnx.graph @main(%v: tensor<3xf32>, %b: tensor<5x3x4xf32>, %w: tensor<4xf32>) -> tensor<5xf32> {
  %y = onnx.node "MatMul" version 13 (%v, %b) {} : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  %z = onnx.node "MatMul" version 13 (%y, %w) {} : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5xf32>
  onnx.return %z : tensor<5xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// Labels that both operands share are batch axes if the result has them, and are contracted otherwise. The result is transposed to its
// order.

// CHECK: func.func @forward(%[[A:.*]]: tensor<2x3x4xf32>, %[[B:.*]]: tensor<4x2x5xf32>)
// CHECK-NEXT: %[[Y:.*]] = mtc.contract %[[A]], %[[B]] batch [0] x [1] over [2] x [0] : {{.*}} -> tensor<2x3x5xf32>
// CHECK-NEXT: mtc.transpose %[[Y]] [2, 0, 1] : tensor<2x3x5xf32> -> tensor<5x2x3xf32>
onnx.graph @main(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<5x2x3xf32> {
  %y = onnx.node "Einsum" version 12 (%a, %b) {equation = "bik,kbj->jbi"} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<5x2x3xf32>
  onnx.return %y : tensor<5x2x3xf32>
}

// -----

// A label of one operand only is summed before the contraction, and a diagonal is extracted.

// CHECK: func.func @forward(%[[A:.*]]: tensor<3x3x4xf32>, %[[B:.*]]: tensor<4x6xf32>)
// CHECK: %[[D:.*]] = mtc.select %{{.*}}, %[[A]], %{{.*}}
// CHECK: %[[X:.*]] = mtc.reduce add %[[D]] axes [1] : tensor<3x3x4xf32> -> tensor<3x4xf32>
// CHECK: %[[Y:.*]] = mtc.reduce add %[[B]] axes [1] : tensor<4x6xf32> -> tensor<4xf32>
// CHECK: mtc.contract %[[X]], %[[Y]] batch [] x [] over [1] x [0]
onnx.graph @main(%a: tensor<3x3x4xf32>, %b: tensor<4x6xf32>) -> tensor<3xf32> {
  %y = onnx.node "Einsum" version 12 (%a, %b) {equation = "iik,kl->i"} : (tensor<3x3x4xf32>, tensor<4x6xf32>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

// -----

// Three operands, and an ellipsis that broadcasts.

// CHECK: func.func @forward(%[[A:.*]]: tensor<7x2x3xf32>, %[[B:.*]]: tensor<1x3x4xf32>, %[[C:.*]]: tensor<4x5xf32>)
// CHECK: %[[S:.*]] = mtc.reshape %[[B]] : tensor<1x3x4xf32> -> tensor<3x4xf32>
// CHECK: %[[X:.*]] = mtc.contract %[[A]], %[[S]] batch [] x [] over [2] x [0]
// CHECK: mtc.contract %[[X]], %[[C]] batch [] x [] over [2] x [0] : {{.*}} -> tensor<7x2x5xf32>
onnx.graph @main(%a: tensor<7x2x3xf32>, %b: tensor<1x3x4xf32>, %c: tensor<4x5xf32>) -> tensor<7x2x5xf32> {
  %y = onnx.node "Einsum" version 12 (%a, %b, %c) {equation = "...ij,...jk,kl->...il"} : (tensor<7x2x3xf32>, tensor<1x3x4xf32>, tensor<4x5xf32>) -> tensor<7x2x5xf32>
  onnx.return %y : tensor<7x2x5xf32>
}

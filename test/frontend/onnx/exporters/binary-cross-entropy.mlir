// RUN: mtc-opt %s --onnx-form-binary-cross-entropy --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// CHECK-LABEL: onnx.graph @loss(
// CHECK-SAME: %[[P:.*]]: tensor<4xf32>, %[[T:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "BinaryCrossEntropy" version 1(%[[P]], %[[T]]) {}
// CHECK: onnx.return %[[Y]]
onnx.graph @loss(%p: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %least = onnx.constant dense<-100.0> : tensor<f32> -> tensor<f32>
  %d = onnx.node "Sub" version 14 (%t, %one) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = onnx.node "Neg" version 13 (%p) {} : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.node "Add" version 14 (%n, %one) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %lc = onnx.node "Log" version 13 (%c) {} : (tensor<4xf32>) -> tensor<4xf32>
  %mc = onnx.node "Max" version 13 (%lc, %least) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a = onnx.node "Mul" version 14 (%d, %mc) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "Log" version 13 (%p) {} : (tensor<4xf32>) -> tensor<4xf32>
  %m = onnx.node "Max" version 13 (%l, %least) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.node "Mul" version 14 (%t, %m) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Sub" version 14 (%a, %b) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// The targets of the two terms differ.

// CHECK-LABEL: onnx.graph @other_target
// CHECK-NOT: "BinaryCrossEntropy"
onnx.graph @other_target(%p: tensor<4xf32>, %t: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %least = onnx.constant dense<-100.0> : tensor<f32> -> tensor<f32>
  %d = onnx.node "Sub" version 14 (%t, %one) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = onnx.node "Sub" version 14 (%one, %p) {} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %lc = onnx.node "Log" version 13 (%c) {} : (tensor<4xf32>) -> tensor<4xf32>
  %mc = onnx.node "Max" version 13 (%lc, %least) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a = onnx.node "Mul" version 14 (%d, %mc) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "Log" version 13 (%p) {} : (tensor<4xf32>) -> tensor<4xf32>
  %m = onnx.node "Max" version 13 (%l, %least) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = onnx.node "Mul" version 14 (%u, %m) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Sub" version 14 (%a, %b) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

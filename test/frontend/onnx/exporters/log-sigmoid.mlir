// RUN: mtc-opt %s --onnx-form-log-sigmoid --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// The logarithm of a sigmoid becomes one node. The sigmoid is kept if it has other users.

// CHECK-LABEL: onnx.graph @alone(%{{.*}}: tensor<4xf32>)
// CHECK-NOT: "Sigmoid"
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "LogSigmoid" version 1(%{{.*}}) {}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = onnx.node "Sigmoid" version 13 (%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Log" version 13 (%s) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: onnx.graph @read_twice
// CHECK: %[[S:.*]] = onnx.node "Sigmoid"
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "LogSigmoid"
// CHECK-NEXT: onnx.return %[[Y]], %[[S]]
onnx.graph @read_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = onnx.node "Sigmoid" version 13 (%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Log" version 13 (%s) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// 1 - sigmoid(x) is sigmoid(-x).

// CHECK-LABEL: onnx.graph @complement
// CHECK-NOT: "Sub"
// CHECK: %[[N:.*]] = onnx.node "Neg" version 13(%{{.*}}) {}
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "LogSigmoid" version 1(%[[N]]) {}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @complement(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Sigmoid" version 13 (%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  %c = onnx.node "Sub" version 14 (%one, %s) {} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Log" version 13 (%c) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

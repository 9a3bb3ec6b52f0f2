// RUN: mtc-opt %s --onnx-form-safe-softmax --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// A softmax that is zero instead of NaN becomes one node.

// CHECK: onnx.graph @main(%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NOT: "Softmax"
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "SafeSoftmax" version 1(%[[X]]) {axis = 1 : si64}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %y = onnx.node "Where" version 16 (%n, %zero, %s) {} : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %y : tensor<4x8xf32>
}

// -----

// Values with other users remain.

// CHECK: onnx.graph @main(%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[S:.*]] = onnx.node "Softmax"
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "SafeSoftmax" version 1(%[[X]]) {axis = 1 : si64}
// CHECK-NEXT: onnx.return %[[Y]], %[[S]]
onnx.graph @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Softmax" version 11 (%x) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %y = onnx.node "Where" version 16 (%n, %zero, %s) {} : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %y, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Forms with another value instead of NaN, or with rows of several axes or of none, are not replaced.

// CHECK: onnx.graph @main
// CHECK-NOT: SafeSoftmax
// CHECK: onnx.return
onnx.graph @main(%x: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4x9xf32>, tensor<4x9xf32>) {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<4x9xf32>) -> tensor<4x9xi1>
  %y = onnx.node "Where" version 16 (%n, %one, %s) {} : (tensor<4x9xi1>, tensor<f32>, tensor<4x9xf32>) -> tensor<4x9xf32>
  %s0 = onnx.node "Softmax" version 11 (%x) {axis = 0 : si64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  %n0 = onnx.node "IsNaN" version 20 (%s0) {} : (tensor<4x9xf32>) -> tensor<4x9xi1>
  %y0 = onnx.node "Where" version 16 (%n0, %zero, %s0) {} : (tensor<4x9xi1>, tensor<f32>, tensor<4x9xf32>) -> tensor<4x9xf32>
  %s2 = onnx.node "Softmax" version 11 (%x) {axis = 2 : si64} : (tensor<4x9xf32>) -> tensor<4x9xf32>
  %n2 = onnx.node "IsNaN" version 20 (%s2) {} : (tensor<4x9xf32>) -> tensor<4x9xi1>
  %y2 = onnx.node "Where" version 16 (%n2, %zero, %s2) {} : (tensor<4x9xi1>, tensor<f32>, tensor<4x9xf32>) -> tensor<4x9xf32>
  onnx.return %y, %y0, %y2 : tensor<4x9xf32>, tensor<4x9xf32>, tensor<4x9xf32>
}

// -----

// Values without inferred types do not match.

// CHECK: onnx.graph @main
// CHECK-NOT: SafeSoftmax
// CHECK: onnx.return
onnx.graph @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<*xf32>) -> tensor<*xf32>
  %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<*xf32>) -> tensor<*xi1>
  %y = onnx.node "Where" version 16 (%n, %zero, %s) {} : (tensor<*xi1>, tensor<f32>, tensor<*xf32>) -> tensor<*xf32>
  onnx.return %y : tensor<*xf32>
}

// -----

// The smallest number masks an element of a guarded softmax, as -inf does.

// CHECK-LABEL: onnx.graph @lowest
// CHECK: %[[INF:.*]] = onnx.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[M:.*]] = onnx.node "Where" version 16(%{{.*}}, %{{.*}}, %[[INF]])
// CHECK: %[[A:.*]] = onnx.node "Add" version 14(%{{.*}}, %[[M]])
// CHECK: onnx.node domain "mtc" "SafeSoftmax" version 1(%[[A]])
onnx.graph @lowest(%x: tensor<4x8xf32>, %c: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %low = onnx.constant dense<-3.40282347e+38> : tensor<f32> -> tensor<f32>
  %m = onnx.node "Where" version 16 (%c, %zero, %low) {} : (tensor<4x8xi1>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  %a = onnx.node "Add" version 14 (%x, %m) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = onnx.node "Softmax" version 13 (%a) {axis = -1 : si64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = onnx.node "IsNaN" version 20 (%s) {} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %y = onnx.node "Where" version 16 (%n, %zero, %s) {} : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %y : tensor<4x8xf32>
}

// RUN: mtc-opt %s --onnx-form-torch-functions --split-input-file | FileCheck %s
// RUN: mtc-opt %s --onnx-undo-exporters --split-input-file | FileCheck %s

// CHECK-LABEL: onnx.graph @xlogy(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK: onnx.node domain "mtc" "XLogY" version 1(%[[X]], %[[Y]]) {}
onnx.graph @xlogy(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %e = onnx.node "Equal" version 13 (%x, %zero) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %n = onnx.node "IsNaN" version 13 (%y) {} : (tensor<4xf32>) -> tensor<4xi1>
  %l = onnx.node "Log" version 13 (%y) {} : (tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul" version 14 (%x, %l) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w = onnx.node "Where" version 16 (%n, %y, %p) {} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = onnx.node "Where" version 16 (%e, %x, %w) {} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %r : tensor<4xf32>
}

// -----

// A guard that the module itself contains selects another value, so it is kept.

// CHECK-LABEL: onnx.graph @own_guard
// CHECK-NOT: "XLogY"
onnx.graph @own_guard(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %e = onnx.node "Equal" version 13 (%x, %zero) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %l = onnx.node "Log" version 13 (%y) {} : (tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul" version 14 (%x, %l) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = onnx.node "Where" version 16 (%e, %x, %p) {} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: onnx.graph @logaddexp(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: onnx.node domain "mtc" "LogAddExp" version 1(%[[A]], %[[B]]) {}
onnx.graph @logaddexp(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %e = onnx.node "Exp" version 13 (%a) {} : (tensor<4xf32>) -> tensor<4xf32>
  %f = onnx.node "Exp" version 13 (%b) {} : (tensor<4xf32>) -> tensor<4xf32>
  %s = onnx.node "Add" version 14 (%e, %f) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Log" version 13 (%s) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: onnx.graph @atan2(
// CHECK-SAME: %[[Y:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>)
// CHECK: onnx.node domain "mtc" "Atan2" version 1(%[[Y]], %[[X]]) {}
onnx.graph @atan2(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %pi = onnx.constant dense<3.14159274> : tensor<f32> -> tensor<f32>
  %q = onnx.node "Div" version 14 (%y, %x) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = onnx.node "Atan" version 7 (%q) {} : (tensor<4xf32>) -> tensor<4xf32>
  %u = onnx.node "Add" version 14 (%a, %pi) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = onnx.node "Sub" version 14 (%a, %pi) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = onnx.node "Greater" version 13 (%y, %zero) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %t = onnx.node "Where" version 16 (%g, %u, %d) {} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "Less" version 13 (%x, %zero) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %r = onnx.node "Where" version 16 (%l, %t, %a) {} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: onnx.graph @cosine(
// CHECK: %[[N:.*]] = onnx.node domain "mtc" "SafeRoot"
// CHECK: %[[NC:.*]] = onnx.node "Clip" version 13(%[[N]], %{{.*}}onnx.straight_through
// CHECK: %[[M:.*]] = onnx.node domain "mtc" "SafeRoot"
// CHECK: %[[MC:.*]] = onnx.node "Clip" version 13(%[[M]], %{{.*}}onnx.straight_through
// CHECK: %[[P:.*]] = onnx.node "Mul" version 14(%[[NC]], %[[MC]])
// CHECK: onnx.node "Div" version 14(%{{.*}}, %[[P]])
onnx.graph @cosine(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf32> {
  %axes = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %eps = onnx.constant dense<1.0e-08> : tensor<1xf32> -> tensor<1xf32>
  %xy = onnx.node "Mul" version 14 (%x, %y) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = onnx.node "ReduceSum" version 13 (%xy, %axes) {keepdims = 0 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
  %xx = onnx.node "Mul" version 14 (%x, %x) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = onnx.node "ReduceSum" version 13 (%xx, %axes) {keepdims = 0 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
  %yy = onnx.node "Mul" version 14 (%y, %y) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = onnx.node "ReduceSum" version 13 (%yy, %axes) {keepdims = 0 : si64} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
  %p = onnx.node "Mul" version 14 (%s, %t) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = onnx.node "Sqrt" version 13 (%p) {} : (tensor<4xf32>) -> tensor<4xf32>
  %m = onnx.node "Max" version 13 (%r, %eps) {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %c = onnx.node "Div" version 14 (%d, %m) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %c : tensor<4xf32>
}

// -----

// The derivative of logit follows the formula at the upper bound, too.

// CHECK-LABEL: onnx.graph @logit(
// CHECK: %[[C:.*]] = onnx.node "GreaterOrEqual"
// CHECK-NEXT: onnx.node "Where" version 16(%[[C]],
onnx.graph @logit(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %a = onnx.constant dense<0.25> : tensor<f32> -> tensor<f32>
  %b = onnx.constant dense<0.75> : tensor<f32> -> tensor<f32>
  %g = onnx.node "Greater" version 13 (%b, %x) {} : (tensor<f32>, tensor<4xf32>) -> tensor<4xi1>
  %w = onnx.node "Where" version 16 (%g, %x, %b) {} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = onnx.node "Less" version 13 (%w, %a) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %z = onnx.node "Where" version 16 (%l, %a, %w) {} : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %s = onnx.node "Sub" version 14 (%one, %z) {} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %d = onnx.node "Div" version 14 (%z, %s) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Log" version 13 (%d) {} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

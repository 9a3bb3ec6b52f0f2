// RUN: mtc-opt %s --onnx-form-dropout --split-input-file | FileCheck %s

// Dropout of channels as PyTorch's exporter writes it. In inference, the result is x.

// CHECK-LABEL: onnx.graph @channels(
// CHECK-SAME: %[[X:.*]]: tensor<4x3x5xf32>
// CHECK: %[[D:.*]] = onnx.node "Mul" version 14(%[[X]], %{{.*}}) {}
// CHECK-NOT: onnx.index
// CHECK: %[[Y:.*]] = onnx.node domain "mtc" "SelectByMode" version 1(%[[D]], %[[X]]) {} {onnx.replaced = array<i64: 7>, onnx.replacement = array<i64: 7, 0>}
// CHECK: onnx.return %[[Y]]
onnx.graph @channels(%x: tensor<4x3x5xf32>, %like: tensor<4x3x1xf32>) -> tensor<4x3x5xf32> {
  %p = onnx.constant dense<0.7> : tensor<f32> -> tensor<f32>
  %u = onnx.node "RandomUniformLike" version 1 (%like) {} : (tensor<4x3x1xf32>) -> tensor<4x3x1xf32>
  %b = onnx.node "Less" version 13 (%u, %p) {} : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3x1xi1>
  %m = onnx.node "Cast" version 13 (%b) {to = 1 : si64} : (tensor<4x3x1xi1>) -> tensor<4x3x1xf32>
  %k = onnx.node "Div" version 14 (%m, %p) {} : (tensor<4x3x1xf32>, tensor<f32>) -> tensor<4x3x1xf32>
  %d = onnx.node "Mul" version 14 (%x, %k) {} {onnx.index = 7 : i64} : (tensor<4x3x5xf32>, tensor<4x3x1xf32>) -> tensor<4x3x5xf32>
  onnx.return %d : tensor<4x3x5xf32>
}

// -----

// Stochastic depth multiplies a quotient by the rounding of p + u. In inference, the result is the dividend.

// CHECK-LABEL: onnx.graph @floor(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: onnx.node domain "mtc" "SelectByMode" version 1(%{{.*}}, %[[X]])
onnx.graph @floor(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = onnx.constant dense<0.8> : tensor<f32> -> tensor<f32>
  %u = onnx.node "RandomUniform" version 1 () {shape = array<i64: 4, 1>} : () -> tensor<4x1xf32>
  %s = onnx.node "Add" version 14 (%p, %u) {} : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %m = onnx.node "Floor" version 13 (%s) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %q = onnx.node "Div" version 14 (%x, %p) {} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %d = onnx.node "Mul" version 14 (%q, %m) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  onnx.return %d : tensor<4x8xf32>
}

// -----

// A mask that is 1 for dropped elements selects, as in Keras.

// CHECK-LABEL: onnx.graph @where(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: %[[Q:.*]] = onnx.node "Div"
// CHECK: %[[D:.*]] = onnx.node "Where"
// CHECK: onnx.node domain "mtc" "SelectByMode" version 1(%[[D]], %[[X]])
onnx.graph @where(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %drop = onnx.constant dense<0.25> : tensor<1x1xf32> -> tensor<4x8xf32>
  %keep = onnx.constant dense<0.75> : tensor<f32> -> tensor<f32>
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %b = onnx.node "Bernoulli" version 15 (%drop) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = onnx.node "Cast" version 13 (%b) {to = 9 : si64} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %q = onnx.node "Div" version 14 (%x, %keep) {} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %d = onnx.node "Where" version 16 (%m, %zero, %q) {} : (tensor<4x8xi1>, tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %d : tensor<4x8xf32>
}

// -----

// Alpha dropout with p = 0.3.

// CHECK-LABEL: onnx.graph @alpha(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: %[[D:.*]] = onnx.node "Add" version 14(%{{.*}}, %{{.*}}) {} : (tensor<4x8xf32>, tensor<4x1xf32>)
// CHECK: onnx.node domain "mtc" "SelectByMode" version 1(%[[D]], %[[X]])
onnx.graph @alpha(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = onnx.constant dense<0.7> : tensor<4x1xf32> -> tensor<4x1xf32>
  %minus = onnx.constant dense<-1.0> : tensor<f32> -> tensor<f32>
  %aa = onnx.constant dense<1.51364028> : tensor<f32> -> tensor<f32>
  %aap = onnx.constant dense<0.454092056> : tensor<f32> -> tensor<f32>
  %a = onnx.constant dense<0.860952616> : tensor<f32> -> tensor<f32>
  %b = onnx.node "Bernoulli" version 15 (%p) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %0 = onnx.node "Add" version 14 (%b, %minus) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %1 = onnx.node "Mul" version 14 (%0, %aa) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %2 = onnx.node "Add" version 14 (%1, %aap) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = onnx.node "Mul" version 14 (%b, %a) {} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = onnx.node "Mul" version 14 (%x, %3) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %d = onnx.node "Add" version 14 (%4, %2) {} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  onnx.return %d : tensor<4x8xf32>
}

// -----

// PyTorch's rrelu has the mean slope in inference.

// CHECK-LABEL: onnx.graph @rrelu(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[L:.*]] = onnx.node "LeakyRelu" version 16(%[[X]]) {alpha = 2.500000e-01 : f32}
// CHECK: %[[D:.*]] = onnx.node "PRelu"
// CHECK: onnx.node domain "mtc" "SelectByMode" version 1(%[[D]], %[[L]])
onnx.graph @rrelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %u = onnx.node "RandomUniformLike" version 1 (%x) {low = 0.125 : f32, high = 0.375 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %d = onnx.node "PRelu" version 16 (%x, %u) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return %d : tensor<4xf32>
}

// -----

// These are not dropout: a mean of 0.7 x, a sum of two values, a value that depends on the mask, a result of another shape, and noise.

// CHECK-LABEL: onnx.graph @others(
// CHECK-NOT: SelectByMode
// CHECK: onnx.return
onnx.graph @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %row: tensor<1x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = onnx.constant dense<0.7> : tensor<4x8xf32> -> tensor<4x8xf32>
  %q = onnx.constant dense<0.7> : tensor<f32> -> tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %m = onnx.node "Bernoulli" version 15 (%p) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %k = onnx.node "Div" version 14 (%m, %q) {} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %0 = onnx.node "Mul" version 14 (%x, %m) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = onnx.node "Sub" version 14 (%one, %m) {} : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.node "Mul" version 14 (%y, %n) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = onnx.node "Add" version 14 (%0, %1) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = onnx.node "Exp" version 13 (%m) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = onnx.node "Mul" version 14 (%s, %k) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = onnx.node "Mul" version 14 (%row, %k) {} : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = onnx.node "RandomNormalLike" version 1 (%x) {} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = onnx.node "Add" version 14 (%x, %z) {} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %0, %2, %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

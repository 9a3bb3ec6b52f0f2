// Integers of 2 and 4 bits are stored in 8 bits.
// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: mtc.constant dense<[-8, -1, 7]> : tensor<3xi8>
// CHECK: mtc.cast %{{.*}} : tensor<3xi8> -> tensor<3xf32>
onnx.graph @main(%s: tensor<f32>) -> tensor<3xf32> {
  %w = onnx.constant dense<[-8, -1, 7]> : tensor<3xi4> -> tensor<3xi4>
  %y = onnx.node "DequantizeLinear" version 21 (%w, %s) {} : (tensor<3xi4>, tensor<f32>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

// -----

// Values are clamped to the range of the type.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> tensor<3xui8>
// CHECK-DAG: mtc.constant dense<1.500000e+01>
// CHECK-DAG: mtc.constant dense<0.000000e+00>
// CHECK: mtc.cast %{{.*}} : tensor<3xf32> -> tensor<3xui8>
onnx.graph @main(%x: tensor<3xf32>, %s: tensor<f32>) -> tensor<3xui4> {
  %z = onnx.constant dense<8> : tensor<ui4> -> tensor<ui4>
  %y = onnx.node "QuantizeLinear" version 21 (%x, %s, %z) {} : (tensor<3xf32>, tensor<f32>, tensor<ui4>) -> tensor<3xui4>
  onnx.return %y : tensor<3xui4>
}

// -----

// A cast discards the upper bits: -1 - 8 is 7.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[X:.*]]: tensor<3xi8>)
// CHECK: %[[MASK:.*]] = mtc.constant dense<15> : tensor<3xi8>
// CHECK: %[[LOW:.*]] = mtc.and %[[X]], %[[MASK]]
// CHECK: %[[SIGN:.*]] = mtc.constant dense<8> : tensor<3xi8>
// CHECK: %[[FLIPPED:.*]] = mtc.xor %[[LOW]], %[[SIGN]]
// CHECK: mtc.sub %[[FLIPPED]], %[[SIGN]]
onnx.graph @main(%x: tensor<3xi8>) -> tensor<3xi4> {
  %y = onnx.node "Cast" version 21 (%x) {to = 22 : si64} : (tensor<3xi8>) -> tensor<3xi4>
  onnx.return %y : tensor<3xi4>
}

// -----

onnx.graph @main(%x: tensor<3xi8>) -> tensor<3xi4> {
  %c = onnx.node "Cast" version 21 (%x) {to = 22 : si64} : (tensor<3xi8>) -> tensor<3xi4>
  // expected-error @below {{Concat version 13: element type i4 is not supported; convert the model to another type}}
  %y = onnx.node "Concat" version 13 (%c) {axis = 0 : si64} : (tensor<3xi4>) -> tensor<3xi4>
  onnx.return %y : tensor<3xi4>
}

// -----

onnx.graph @main(%s: tensor<f32>) -> tensor<3xf32> {
  %w = onnx.initializer "w" {missing, role = "constant"} : tensor<3xi4>
  // expected-error @below {{DequantizeLinear version 21: the data of initializer "w" is missing; put its external data file in the model's folder, or export the model again with its weights}}
  %y = onnx.node "DequantizeLinear" version 21 (%w, %s) {} : (tensor<3xi4>, tensor<f32>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

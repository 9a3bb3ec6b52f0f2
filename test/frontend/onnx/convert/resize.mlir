// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// An integral scale repeats each element.

// CHECK: %[[B:.*]] = mtc.broadcast %{{.*}} axes [3] : tensor<2x3x4xf32> -> tensor<2x3x4x2xf32>
// CHECK: mtc.reshape %[[B]] : tensor<2x3x4x2xf32> -> tensor<2x3x8xf32>
onnx.graph @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %n = onnx.none
  %s = onnx.constant dense<[2, 3, 8]> : tensor<3xi64> -> tensor<3xi64>
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<2x3x4xf32>, none, none, tensor<3xi64>) -> tensor<2x3x8xf32>
  onnx.return %y : tensor<2x3x8xf32>
}

// -----

// Otherwise, the nearest element is gathered.

// CHECK: %[[I:.*]] = mtc.constant dense<[0, 1, 3]> : tensor<3xi64>
// CHECK: mtc.gather %{{.*}}, %[[I]] axis 1 batch 0
onnx.graph @main(%x: tensor<2x4xi32>) -> tensor<2x3xi32> {
  %n = onnx.none
  %s = onnx.constant dense<[1.0, 0.75]> : tensor<2xf32> -> tensor<2xf32>
  %y = onnx.node "Resize" version 19 (%x, %n, %s) {} : (tensor<2x4xi32>, none, tensor<2xf32>) -> tensor<2x3xi32>
  onnx.return %y : tensor<2x3xi32>
}

// -----

// Linear and cubic interpolation are contractions with weights.

// CHECK: %[[W:.*]] = mtc.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00, 0.000000e+00], [0.333333343, 0.666666686, 0.000000e+00], [0.000000e+00, 0.666666686, 0.333333343], [0.000000e+00, 0.000000e+00, 1.000000e+00]]>
// CHECK: %[[Y:.*]] = mtc.contract %{{.*}}, %[[W]] batch [] x [] over [0] x [1]
// CHECK: mtc.transpose %[[Y]] [1, 0]
onnx.graph @main(%x: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %n = onnx.none
  %s = onnx.constant dense<[4, 2]> : tensor<2xi64> -> tensor<2xi64>
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {mode = "linear", coordinate_transformation_mode = "align_corners"} : (tensor<3x2xf32>, none, none, tensor<2xi64>) -> tensor<4x2xf32>
  onnx.return %y : tensor<4x2xf32>
}

// -----

// A region of interest is interpolated. Elements outside the operand have weights of 0 and become the extrapolation value.

// CHECK: %[[W:.*]] = mtc.constant dense<{{\[\[}}5.000000e-01, 5.000000e-01, 0.000000e+00], [0.000000e+00, 5.000000e-01, 5.000000e-01], [0.000000e+00, 0.000000e+00, 0.000000e+00]]>
// CHECK: %[[C:.*]] = mtc.contract %{{.*}}, %[[W]] batch [] x [] over [1] x [1]
// CHECK: %[[OUT:.*]] = mtc.constant dense<[false, false, true]> : tensor<3xi1>
// CHECK: %[[O:.*]] = mtc.broadcast %[[OUT]] axes [0] : tensor<3xi1> -> tensor<2x3xi1>
// CHECK: %[[V:.*]] = mtc.constant dense<7.000000e+00>
// CHECK: mtc.select %[[O]], %[[V]], %[[C]]
onnx.graph @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %n = onnx.none
  %r = onnx.constant dense<[0.25, 1.25]> : tensor<2xf32> -> tensor<2xf32>
  %s = onnx.constant dense<3> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "Resize" version 19 (%x, %r, %n, %s) {axes = array<i64: 1>, coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 7.0 : f32, mode = "linear"} : (tensor<2x3xf32>, tensor<2xf32>, none, tensor<1xi64>) -> tensor<2x3xf32>
  onnx.return %y : tensor<2x3xf32>
}

// -----

onnx.graph @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %n = onnx.none
  %s = onnx.constant dense<4> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Resize version 19: coordinate_transformation_mode tf_crop_and_resize needs operand 1 (roi)}}
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2xf32>, none, none, tensor<1xi64>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

onnx.graph @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %n = onnx.none
  %r = onnx.constant dense<[0.25, 0.5, 1.25]> : tensor<3xf32> -> tensor<3xf32>
  %s = onnx.constant dense<4> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Resize version 19: operand 1 (roi) holds 3 numbers, expected 2}}
  %y = onnx.node "Resize" version 19 (%x, %r, %n, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2xf32>, tensor<3xf32>, none, tensor<1xi64>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

onnx.graph @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %r = onnx.constant dense<[0.0, 1.0]> : tensor<2xf32> -> tensor<2xf32>
  %s = onnx.constant dense<2.0> : tensor<1xf32> -> tensor<1xf32>
  // expected-error @below {{Resize version 19: coordinate_transformation_mode tf_crop_and_resize has scales, expected sizes: runtimes differ in whether scales are relative to the region}}
  %y = onnx.node "Resize" version 19 (%x, %r, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

onnx.graph @main(%x: tensor<2xi32>) -> tensor<4xi32> {
  %n = onnx.none
  %s = onnx.constant dense<4> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Resize version 19: interpolates integers, expected mode nearest or floating-point elements}}
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {mode = "linear"} : (tensor<2xi32>, none, none, tensor<1xi64>) -> tensor<4xi32>
  onnx.return %y : tensor<4xi32>
}

// -----

onnx.graph @main(%x: tensor<16384xf32>) -> tensor<8192xf32> {
  %n = onnx.none
  %s = onnx.constant dense<8192> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Resize version 19: interpolates 16384 elements to 8192 on axis 0, which needs more than 67108864 numbers}}
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {mode = "linear"} : (tensor<16384xf32>, none, none, tensor<1xi64>) -> tensor<8192xf32>
  onnx.return %y : tensor<8192xf32>
}

// -----

onnx.graph @main(%x: tensor<0xf32>) -> tensor<4xf32> {
  %n = onnx.none
  %s = onnx.constant dense<4> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Resize version 19: interpolates axis 0, which is empty}}
  %y = onnx.node "Resize" version 19 (%x, %n, %n, %s) {} : (tensor<0xf32>, none, none, tensor<1xi64>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

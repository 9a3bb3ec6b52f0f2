// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// The result is the value of the first tap with the maximum, which alone receives the gradient.

// CHECK: %[[P:.*]] = mtc.pad %{{.*}} low [0, 0, 1, 1] high [0, 0, 0, 0] interior [0, 0, 0, 0] value 0xFF800000
// CHECK: %[[W:.*]] = mtc.windows %[[P]] axes [2, 3] strides [2, 2] dilations [1, 1]
// CHECK: %[[M:.*]] = mtc.reduce max %[[W]] axes [4, 5]
// CHECK: %[[D:.*]] = mtc.detach %[[M]]
// CHECK: %[[MB:.*]] = mtc.broadcast %[[D]] axes [4, 5]
// CHECK: %[[E:.*]] = mtc.compare eq %[[W]], %[[MB]]
// CHECK: %[[N:.*]] = mtc.is_nan %[[W]]
// CHECK: %[[A:.*]] = mtc.or %[[E]], %[[N]]
// CHECK: %[[T:.*]] = mtc.add %{{.*}}, %{{.*}} : tensor<2x3x4x4x3x3xi32>
// CHECK: %[[F:.*]] = mtc.select %[[A]], %[[T]], %{{.*}}
// CHECK: %[[I:.*]] = mtc.reduce min %[[F]] axes [4, 5]
// CHECK: %[[K:.*]] = mtc.cast %[[I]] : tensor<2x3x4x4xi32> -> tensor<2x3x4x4xi8>
// CHECK: %[[L:.*]] = mtc.cast %[[K]] : tensor<2x3x4x4xi8> -> tensor<2x3x4x4xi32>
// CHECK: %[[IB:.*]] = mtc.broadcast %[[L]] axes [4, 5]
// CHECK: %[[O:.*]] = mtc.compare eq %[[T]], %[[IB]]
// CHECK: %[[S:.*]] = mtc.select %[[O]], %[[W]], %{{.*}}
// CHECK: mtc.reduce add %[[S]] axes [4, 5] : tensor<2x3x4x4x3x3xf32> -> tensor<2x3x4x4xf32>
onnx.graph @main(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32> {
  %y = onnx.node "MaxPool" version 12 (%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  onnx.return %y : tensor<2x3x4x4xf32>
}

// -----

// Indices count along the operand's axes, without the padding, which never is the maximum.

// CHECK: mtc.pad %{{.*}} low [0, 0, 1] high [0, 0, 1] interior [0, 0, 0] value -128 : i8
// CHECK: mtc.reduce add
// CHECK: %[[ALL:.*]] = mtc.constant dense<true> : tensor<4xi1>
// CHECK: %[[P:.*]] = mtc.pad %[[ALL]] low [1] high [1] interior [0] value false
// CHECK: %[[W:.*]] = mtc.windows %[[P]] axes [0]
// CHECK: %[[E:.*]] = mtc.broadcast %[[W]] axes [0, 1] : tensor<4x3xi1> -> tensor<1x1x4x3xi1>
// CHECK: %[[A:.*]] = mtc.and %{{.*}}, %[[E]]
// CHECK: %[[S:.*]] = mtc.select %[[A]]
// CHECK: %[[F:.*]] = mtc.reduce min %[[S]] axes [3] : tensor<1x1x4x3xi32> -> tensor<1x1x4xi32>
// CHECK: %[[T:.*]] = mtc.cast %[[F]] : tensor<1x1x4xi32> -> tensor<1x1x4xi64>
// CHECK: %[[O:.*]] = mtc.iota 2 : tensor<1x1x4xi64>
// CHECK: mtc.rem %[[T]], %{{.*}}
// CHECK: %[[Q:.*]] = mtc.add
// CHECK-NEXT: %[[B:.*]] = mtc.constant dense<1> : tensor<1x1x4xi64>
// CHECK-NEXT: mtc.sub %[[Q]], %[[B]]
onnx.graph @main(%x: tensor<1x1x4xi8>) -> (tensor<1x1x4xi8>, tensor<1x1x4xi64>) {
  %y, %i = onnx.node "MaxPool" version 12 (%x) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x1x4xi8>) -> (tensor<1x1x4xi8>, tensor<1x1x4xi64>)
  onnx.return %y, %i : tensor<1x1x4xi8>, tensor<1x1x4xi64>
}

// -----

// One of 169 taps needs an index of more than a byte.

// CHECK: %[[M:.*]] = mtc.reduce min %{{.*}} axes [4, 5] : tensor<1x1x2x2x13x13xi32>
// CHECK-NEXT: mtc.broadcast %[[M]] axes [4, 5]
onnx.graph @main(%x: tensor<1x1x14x14xf32>) -> tensor<1x1x2x2xf32> {
  %y = onnx.node "MaxPool" version 12 (%x) {kernel_shape = array<i64: 13, 13>} : (tensor<1x1x14x14xf32>) -> tensor<1x1x2x2xf32>
  onnx.return %y : tensor<1x1x2x2xf32>
}

// -----

// Padding does not count, so windows at the border have fewer elements.

// CHECK: %[[S:.*]] = mtc.reduce add %{{.*}} axes [3]
// CHECK: %[[N:.*]] = mtc.constant dense<[2.000000e+00, 3.000000e+00, 3.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: %[[NB:.*]] = mtc.broadcast %[[N]] axes [0, 1]
// CHECK: mtc.div %[[S]], %[[NB]]
onnx.graph @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = onnx.node "AveragePool" version 11 (%x) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  onnx.return %y : tensor<2x3x4xf32>
}

// -----

// With count_include_pad, all are divided by the same number.

// CHECK: %[[X:.*]] = mtc.cast %{{.*}} : tensor<2x3x4xf16> -> tensor<2x3x4xf32>
// CHECK: mtc.pad %[[X]] low [0, 0, 1] high [0, 0, 1]
// CHECK: %[[S:.*]] = mtc.reduce add %{{.*}} axes [3]
// CHECK: %[[N:.*]] = mtc.constant dense<0.333333343> : tensor<2x3x4xf32>
// CHECK: %[[M:.*]] = mtc.mul %[[S]], %[[N]]
// CHECK: mtc.cast %[[M]] : tensor<2x3x4xf32> -> tensor<2x3x4xf16>
onnx.graph @main(%x: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %y = onnx.node "AveragePool" version 11 (%x) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>, count_include_pad = 1 : si64} : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  onnx.return %y : tensor<2x3x4xf16>
}

// -----

onnx.graph @main(%x: tensor<1x1x65536x65536xf32>) -> tensor<1x1x1x1xf32> {
  // expected-error @below {{MaxPool version 12: has a kernel of shape [65536, 65536], expected fewer elements than 2^31}}
  %y = onnx.node "MaxPool" version 12 (%x) {kernel_shape = array<i64: 65536, 65536>} : (tensor<1x1x65536x65536xf32>) -> tensor<1x1x1x1xf32>
  onnx.return %y : tensor<1x1x1x1xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x67108865xf32>) -> tensor<1x1x67108865xf32> {
  // expected-error @below {{AveragePool version 11: averages 67108865 windows over padding on axis 2, expected at most 67108864}}
  %y = onnx.node "AveragePool" version 11 (%x) {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<1x1x67108865xf32>) -> tensor<1x1x67108865xf32>
  onnx.return %y : tensor<1x1x67108865xf32>
}

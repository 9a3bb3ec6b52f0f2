// Convolution and pooling.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @conv
// CHECK: onnx.node "Conv"
// CHECK-SAME: -> tensor<1x6x4x4xf32>{{$}}
onnx.graph @conv(%a: tensor<1x3x8x8xf32>, %b: tensor<6x3x3x3xf32>, %c: tensor<6xf32>) -> tensor<*xindex> {
  %r = onnx.node "Conv" version 11 (%a, %b, %c) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @convDilated
// CHECK: onnx.node "Conv"
// CHECK-SAME: -> tensor<1x6x4x4xf32>{{$}}
onnx.graph @convDilated(%a: tensor<1x3x8x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Conv" version 11 (%a, %b) {dilations = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @convGroups
// CHECK: onnx.node "Conv"
// CHECK-SAME: -> tensor<1x6x6xf32>{{$}}
onnx.graph @convGroups(%a: tensor<1x4x8xf32>, %b: tensor<6x2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Conv" version 11 (%a, %b) {group = 2 : si64} : (tensor<1x4x8xf32>, tensor<6x2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @convSame
// CHECK: onnx.node "Conv"
// CHECK-SAME: -> tensor<1x6x4x4xf32>{{$}}
onnx.graph @convSame(%a: tensor<1x3x7x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Conv" version 11 (%a, %b) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x3x7x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @convTranspose
// CHECK: onnx.node "ConvTranspose"
// CHECK-SAME: -> tensor<1x5x8x8xf32>{{$}}
onnx.graph @convTranspose(%a: tensor<1x3x4x4xf32>, %b: tensor<3x5x3x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "ConvTranspose" version 11 (%a, %b) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<3x5x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// output_shape may exceed the elements that the windows cover.
// CHECK-LABEL: onnx.graph @convTransposeShape
// CHECK: onnx.node "ConvTranspose"
// CHECK-SAME: -> tensor<1x2x10x8xf32>{{$}}
onnx.graph @convTransposeShape(%a: tensor<1x1x3x3xf32>, %b: tensor<1x2x3x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "ConvTranspose" version 11 (%a, %b) {strides = array<i64: 3, 2>, output_shape = array<i64: 10, 8>} : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @maxPool
// CHECK: onnx.node "MaxPool"
// CHECK-SAME: -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi64>){{$}}
onnx.graph @maxPool(%a: tensor<1x3x8x8xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "MaxPool" version 12 (%a) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @poolCeil
// CHECK: onnx.node "AveragePool"
// CHECK-SAME: -> tensor<1x1x3xf32>{{$}}
onnx.graph @poolCeil(%a: tensor<1x1x6xf32>) -> tensor<*xindex> {
  %r = onnx.node "AveragePool" version 19 (%a) {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = 1 : si64} : (tensor<1x1x6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// A window that would start in the padding at the end is skipped.
// CHECK-LABEL: onnx.graph @poolCeilPadding
// CHECK: onnx.node "MaxPool"
// CHECK-SAME: -> tensor<1x1x1xf32>{{$}}
onnx.graph @poolCeilPadding(%a: tensor<1x1x2xf32>) -> tensor<*xindex> {
  %r = onnx.node "MaxPool" version 12 (%a) {kernel_shape = array<i64: 1>, strides = array<i64: 2>, pads = array<i64: 0, 1>, ceil_mode = 1 : si64} : (tensor<1x1x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @globalPool
// CHECK: onnx.node "GlobalAveragePool"
// CHECK-SAME: -> tensor<2x3x1x1xf32>{{$}}
onnx.graph @globalPool(%a: tensor<2x3x4x5xf32>) -> tensor<*xindex> {
  %r = onnx.node "GlobalAveragePool" version 1 (%a) {} : (tensor<2x3x4x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for convolution and pooling.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @channels(%a: tensor<1x3x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Conv version 11: operand 1 (W) has shape [6, 4, 3, 3], expected 3 on axis 1 (3 channels in 1 groups)}}
  %r = onnx.node "Conv" version 11 (%a, %b) {} : (tensor<1x3x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @group(%a: tensor<1x3x8xf32>, %b: tensor<6x1x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Conv version 11: attribute group = 2 does not divide 3 and 6 channels}}
  %r = onnx.node "Conv" version 11 (%a, %b) {group = 2 : si64} : (tensor<1x3x8xf32>, tensor<6x1x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @kernel(%a: tensor<1x3x2x2xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Conv version 11: has windows of 3 over axis 2 of extent 2 padded by 0 and 0}}
  %r = onnx.node "Conv" version 11 (%a, %b) {} : (tensor<1x3x2x2xf32>, tensor<6x3x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @kernelShape(%a: tensor<1x3x8x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Conv version 11: attribute kernel_shape = [5, 5], but the weight has [3, 3]}}
  %r = onnx.node "Conv" version 11 (%a, %b) {kernel_shape = array<i64: 5, 5>} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @bias(%a: tensor<1x3x8x8xf32>, %b: tensor<6x3x3x3xf32>, %c: tensor<3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Conv version 11: operand 2 (B) has shape [3], expected [6]}}
  %r = onnx.node "Conv" version 11 (%a, %b, %c) {} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @strides(%a: tensor<1x3x8x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{MaxPool version 12: attribute strides holds 0, expected 1..1073741824}}
  %r = onnx.node "MaxPool" version 12 (%a) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @pads(%a: tensor<1x3x8x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{AveragePool version 19: attribute pads has 2 values, expected 4}}
  %r = onnx.node "AveragePool" version 19 (%a) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @noKernel(%a: tensor<1x3x8x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{MaxPool version 12: attribute kernel_shape is missing}}
  %r = onnx.node "MaxPool" version 12 (%a) {} : (tensor<1x3x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

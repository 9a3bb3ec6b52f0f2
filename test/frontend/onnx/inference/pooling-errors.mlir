// Errors of type inference for norms over windows and unpooling.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @regionSize(%x: tensor<2x3x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{LRN version 13: attribute size = 0, expected at least 1}}
  %r = onnx.node "LRN" version 13 (%x) {size = 0 : si64} : (tensor<2x3x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @power(%x: tensor<2x3x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{LpPool version 18: attribute p = 0, expected at least 1}}
  %r = onnx.node "LpPool" version 18 (%x) {kernel_shape = array<i64: 2, 2>, p = 0 : si64} : (tensor<2x3x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @globalPower(%x: tensor<2x3x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{GlobalLpPool version 2: attribute p = -1, expected at least 1}}
  %r = onnx.node "GlobalLpPool" version 2 (%x) {p = -1 : si64} : (tensor<2x3x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @indices(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x3xi64>) -> tensor<*xindex> {
  // expected-error @below {{MaxUnpool version 11: operand 1 (I) has shape [1, 1, 2, 3], expected the shape of the values, [1, 1, 2, 2]}}
  %r = onnx.node "MaxUnpool" version 11 (%x, %i) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @unpooledShape(%x: tensor<1x1x2x2xf32>, %i: tensor<1x1x2x2xi64>) -> tensor<*xindex> {
  %s = onnx.constant dense<[1, 1, 3, 4]> : tensor<4xi64> -> tensor<4xi64>
  // expected-error @below {{MaxUnpool version 11: operand 2 (output_shape) = [1, 1, 3, 4], expected at least [1, 1, 4, 4], with equal first two extents}}
  %r = onnx.node "MaxUnpool" version 11 (%x, %i, %s) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @columns(%x: tensor<1x5x4xf32>) -> tensor<*xindex> {
  %i = onnx.constant dense<[3, 3]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[2, 2]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Col2Im version 18: operand 0 (input) has shape [1, 5, 4], expected a multiple of 4 on axis 1 and 4 on axis 2}}
  %r = onnx.node "Col2Im" version 18 (%x, %i, %b) {} : (tensor<1x5x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @blocks(%x: tensor<1x8x5xf32>) -> tensor<*xindex> {
  %i = onnx.constant dense<[3, 3]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[2, 2]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Col2Im version 18: operand 0 (input) has shape [1, 8, 5], expected a multiple of 4 on axis 1 and 4 on axis 2}}
  %r = onnx.node "Col2Im" version 18 (%x, %i, %b) {} : (tensor<1x8x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @block(%x: tensor<1x8x4xf32>) -> tensor<*xindex> {
  %i = onnx.constant dense<[3, 3]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[2]> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Col2Im version 18: has 2 extents of the image and 1 of a block, expected equal numbers}}
  %r = onnx.node "Col2Im" version 18 (%x, %i, %b) {} : (tensor<1x8x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @crop(%x: tensor<2x3xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<[4]> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{CenterCropPad version 18: operand 1 (shape) has 1 extents, expected 2}}
  %r = onnx.node "CenterCropPad" version 18 (%x, %s) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @negativeCrop(%x: tensor<2x3xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<[4, -1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{CenterCropPad version 18: operand 1 (shape) has invalid extent -1 on axis 1}}
  %r = onnx.node "CenterCropPad" version 18 (%x, %s) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for operators on shapes and axes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @reshapeSize(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[4, -1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Reshape version 14: cannot reshape 6 elements of shape [2, 3] to [4, -1]}}
  %r = onnx.node "Reshape" version 14 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @reshapeTwoOpen(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[-1, -1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Reshape version 14: shape [-1, -1], expected extents of at least 0 and at most one -1}}
  %r = onnx.node "Reshape" version 14 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @reshapeCopy(%a: tensor<6xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[6, 0]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Reshape version 14: shape [6, 0] copies axis 1 of an operand of shape [6]}}
  %r = onnx.node "Reshape" version 14 (%a, %b) {} : (tensor<6xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @squeeze(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Squeeze version 13: removes axis 1 of shape [2, 3], expected an extent of 1}}
  %r = onnx.node "Squeeze" version 13 (%a, %b) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @unsqueezeTwice(%a: tensor<2xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[0, -3]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Unsqueeze version 13: axes lists axis 0 twice}}
  %r = onnx.node "Unsqueeze" version 13 (%a, %b) {} : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @transpose(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Transpose version 13: attribute perm has 1 axes, expected 2}}
  %r = onnx.node "Transpose" version 13 (%a) {perm = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @expand(%a: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Expand version 13: cannot expand shape [3] to [2]}}
  %r = onnx.node "Expand" version 13 (%a, %b) {} : (tensor<3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @flatten(%a: tensor<3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Flatten version 13: attribute axis = 2, expected -1..1}}
  %r = onnx.node "Flatten" version 13 (%a) {axis = 2 : si64} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @blocks(%a: tensor<1x2x3x6xf32>) -> tensor<*xindex> {
  // expected-error @below {{SpaceToDepth version 13: attribute blocksize = 2 does not divide shape [1, 2, 3, 6]}}
  %r = onnx.node "SpaceToDepth" version 13 (%a) {blocksize = 2 : si64} : (tensor<1x2x3x6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

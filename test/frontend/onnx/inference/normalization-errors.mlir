// Normalization: invalid nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @batchNorm(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<5xf32>, %d: tensor<6xf32>, %e: tensor<6xf32>) -> tensor<*xindex> {
  // expected-error @below {{BatchNormalization version 15: operand 2 (B) has shape [5], expected [6]}}
  %r = onnx.node "BatchNormalization" version 15 (%a, %b, %c, %d, %e) {} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @layerNorm(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{LayerNormalization version 17: operand 1 (Scale) has shape [2], which does not broadcast to [3]}}
  %r = onnx.node "LayerNormalization" version 17 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @groups(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> tensor<*xindex> {
  // expected-error @below {{GroupNormalization version 21: attribute num_groups = 4 does not divide 6 channels}}
  %r = onnx.node "GroupNormalization" version 21 (%a, %b, %c) {num_groups = 4 : si64} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @epsilon(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> tensor<*xindex> {
  // expected-error @below {{InstanceNormalization version 6: attribute epsilon = "small" has kind STRING, expected FLOAT}}
  %r = onnx.node "InstanceNormalization" version 6 (%a, %b, %c) {epsilon = "small"} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for losses of class scores.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @labels(%a: tensor<8x10xf32>, %b: tensor<8x10xi64>) -> tensor<*xindex> {
  // expected-error @below {{SoftmaxCrossEntropyLoss version 13: operand 1 (labels) has shape [8, 10], expected [8]}}
  %r = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%a, %b) {} : (tensor<8x10xf32>, tensor<8x10xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @weights(%a: tensor<8x10xf32>, %b: tensor<8xi64>, %c: tensor<8xf32>) -> tensor<*xindex> {
  // expected-error @below {{NegativeLogLikelihoodLoss version 13: operand 2 (weight) has shape [8], expected [10]}}
  %r = onnx.node "NegativeLogLikelihoodLoss" version 13 (%a, %b, %c) {} : (tensor<8x10xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @floatLabels(%a: tensor<8x10xf32>, %b: tensor<8xf32>) -> tensor<*xindex> {
  // expected-error @below {{SoftmaxCrossEntropyLoss version 13: operand 1 (labels) has element type f32, expected one of i32, i64}}
  %r = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%a, %b) {} : (tensor<8x10xf32>, tensor<8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

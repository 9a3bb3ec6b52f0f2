// Errors of type inference for recurrent layers.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @gates(%a: tensor<5x2x3xf32>, %b: tensor<1x12x3xf32>, %c: tensor<1x16x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{LSTM version 14: operand 1 (W) has shape [1, 12, 3], expected [1, 16, 3]}}
  %r = onnx.node "LSTM" version 14 (%a, %b, %c) {hidden_size = 4 : si64} : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x16x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @direction(%a: tensor<5x2x3xf32>, %b: tensor<1x4x3xf32>, %c: tensor<1x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{RNN version 14: attribute direction = "both", expected one of forward, reverse, bidirectional}}
  %r = onnx.node "RNN" version 14 (%a, %b, %c) {direction = "both"} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @peepholes(%a: tensor<5x2x3xf32>, %b: tensor<1x16x3xf32>, %c: tensor<1x16x4xf32>, %p: tensor<1x8xf32>) -> tensor<*xindex> {
  %n = onnx.none
  // expected-error @below {{LSTM version 14: operand 7 (P) has shape [1, 8], expected [1, 12]}}
  %r = onnx.node "LSTM" version 14 (%a, %b, %c, %n, %n, %n, %n, %p) {hidden_size = 4 : si64} : (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, tensor<1x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @activation(%a: tensor<5x2x3xf32>, %b: tensor<1x4x3xf32>, %c: tensor<1x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{RNN version 14: attribute activations contains "Swish", expected one of Tanh, Sigmoid, Relu, Softsign, Softplus, LeakyRelu, ThresholdedRelu, Elu, Affine, ScaledTanh, HardSigmoid}}
  %r = onnx.node "RNN" version 14 (%a, %b, %c) {hidden_size = 4 : si64, activations = ["Swish"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @activations(%a: tensor<5x2x3xf32>, %b: tensor<2x4x3xf32>, %c: tensor<2x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{RNN version 14: attribute activations has 1 names, expected 2}}
  %r = onnx.node "RNN" version 14 (%a, %b, %c) {hidden_size = 4 : si64, direction = "bidirectional", activations = ["Tanh"]} : (tensor<5x2x3xf32>, tensor<2x4x3xf32>, tensor<2x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

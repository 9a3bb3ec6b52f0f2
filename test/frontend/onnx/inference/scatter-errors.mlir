// Errors of type inference for operators that scatter by index.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @updates(%a: tensor<3x2xf32>, %b: tensor<4x1xi64>, %c: tensor<4x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{ScatterND version 18: operand 2 (updates) has shape [4, 3], expected [4, 2]}}
  %r = onnx.node "ScatterND" version 18 (%a, %b, %c) {} : (tensor<3x2xf32>, tensor<4x1xi64>, tensor<4x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @elements(%a: tensor<3x2xf32>, %b: tensor<1x2xi64>, %c: tensor<2x2xf32>) -> tensor<*xindex> {
  // expected-error @below {{ScatterElements version 18: operand 2 (updates) has shape [2, 2], expected the shape of the indices, [1, 2]}}
  %r = onnx.node "ScatterElements" version 18 (%a, %b, %c) {} : (tensor<3x2xf32>, tensor<1x2xi64>, tensor<2x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @reduction(%a: tensor<3xf32>, %b: tensor<1x1xi64>, %c: tensor<1xf32>) -> tensor<*xindex> {
  // expected-error @below {{ScatterND version 18: attribute reduction = "mean", expected one of none, add, mul, max, min}}
  %r = onnx.node "ScatterND" version 18 (%a, %b, %c) {reduction = "mean"} : (tensor<3xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for elementwise operators with one operand.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @integerSqrt(%a: tensor<2xi64>) -> tensor<*xindex> {
  // expected-error @below {{Sqrt version 13: operand 0 (X) has element type i64, expected one of f32, f64, f16, bf16}}
  %r = onnx.node "Sqrt" version 13 (%a) {} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @notOfInteger(%a: tensor<2xi64>) -> tensor<*xindex> {
  // expected-error @below {{Not version 1: operand 0 (X) has element type i64, expected i1}}
  %r = onnx.node "Not" version 1 (%a) {} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @clipTypes(%a: tensor<2xf32>, %b: tensor<f64>) -> tensor<*xindex> {
  // expected-error @below {{Clip version 13: operand 1 (min) has element type f64, expected f32, as operand 0 (input)}}
  %r = onnx.node "Clip" version 13 (%a, %b) {} : (tensor<2xf32>, tensor<f64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

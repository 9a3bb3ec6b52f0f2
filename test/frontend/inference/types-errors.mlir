// Casts, identities, constants. Wrong nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @castToString(%a: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{Cast version 19: attribute to = 8 (STRING), expected the data type of numbers or booleans}}
  %r = onnx.node "Cast" version 19 (%a) {to = 8 : si64} : (tensor<2xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @castMissing(%a: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{Cast version 19: attribute to is missing, expected an integer}}
  %r = onnx.node "Cast" version 19 (%a) {} : (tensor<2xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @constantOfNothing() -> tensor<*xf32> {
  // expected-error @below {{Constant version 13: has no value that is a dense tensor of numbers or booleans}}
  %r = onnx.node "Constant" version 13 () {} : () -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @dropoutOfIntegers(%a: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @below {{Dropout version 13: operand 0 (data) has element type i64, expected a floating-point type}}
  %r = onnx.node "Dropout" version 13 (%a) {} : (tensor<2xi64>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

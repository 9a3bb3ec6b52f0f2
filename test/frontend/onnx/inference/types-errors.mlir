// Errors of type inference for casts, identities and constants.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @castToString(%a: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Cast version 19: attribute to = 8 (STRING), expected the data type of numbers or booleans}}
  %r = onnx.node "Cast" version 19 (%a) {to = 8 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @castMissing(%a: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Cast version 19: attribute to is missing, expected INT}}
  %r = onnx.node "Cast" version 19 (%a) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @constantOfNothing() -> tensor<*xindex> {
  // expected-error @below {{Constant version 13: has no value; expected a dense tensor of numbers or booleans}}
  %r = onnx.node "Constant" version 13 () {} : () -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @dropoutOfIntegers(%a: tensor<2xi64>) -> tensor<*xindex> {
  // expected-error @below {{Dropout version 13: operand 0 (data) has element type i64, expected one of f32, f64, f16, bf16, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ}}
  %r = onnx.node "Dropout" version 13 (%a) {} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @bitCastOfData(%a: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{BitCast version 26: operand 0 (input) must be known at compile time}}
  %r = onnx.node "BitCast" version 26 (%a) {to = 6 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @bitCastOfAnotherSize() -> tensor<*xindex> {
  %a = onnx.constant dense<1.0> : tensor<2xf32> -> tensor<2xf32>
  // expected-error @below {{BitCast version 26: reinterprets f32 as i64, expected types of equal size}}
  %r = onnx.node "BitCast" version 26 (%a) {to = 7 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

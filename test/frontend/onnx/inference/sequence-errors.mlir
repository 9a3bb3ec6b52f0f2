// Errors of type inference for tensors from shapes, bounds and random numbers.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @rangeStep() -> tensor<*xindex> {
  %a = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<8> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  // expected-error @below {{Range version 11: has a delta of 0 or a NaN operand}}
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rangeOfData(%b: tensor<i64>) -> tensor<*xindex> {
  %a = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  // expected-error @below {{Range version 11: operand 1 (limit) must be known at compile time, but depends on the data of argument 0; use --bind argument 0=VALUE}}
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rangeHuge() -> tensor<*xindex> {
  %a = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<9223372036854775807> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  // expected-error @below {{Range version 11: would have more than 67108864 elements}}
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @negative() -> tensor<*xindex> {
  %a = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{ConstantOfShape version 9: result 0 would have an extent of -1, expected at least 0}}
  %r = onnx.node "ConstantOfShape" version 9 (%a) {} : (tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @eyeLike(%a: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{EyeLike version 9: operand 0 (input) has rank 1, expected 2}}
  %r = onnx.node "EyeLike" version 9 (%a) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

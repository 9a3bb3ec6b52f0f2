// Errors of type inference for operators that gather by index.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @gatherRange() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  // expected-error @below {{Gather version 13: operand 1 (indices) holds 2, expected -2..1}}
  %r = onnx.node "Gather" version 13 (%a, %b) {} : (tensor<2xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gatherFloat(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Gather version 13: operand 1 (indices) has element type f32, expected one of i32, i64}}
  %r = onnx.node "Gather" version 13 (%a, %b) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gatherND(%a: tensor<2x2xf32>, %b: tensor<2x3xi64>) -> tensor<*xindex> {
  // expected-error @below {{GatherND version 13: operand 1 (indices) has tuples of 3 indices, expected 1..2}}
  %r = onnx.node "GatherND" version 13 (%a, %b) {} : (tensor<2x2xf32>, tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @nonZero(%a: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{NonZero version 13: operand 0 (X) must be known at compile time, but depends on the data of argument 0; use --bind argument 0=VALUE}}
  %r = onnx.node "NonZero" version 13 (%a) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @topK(%a: tensor<2x5xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<6> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{TopK version 11: takes 6 elements of axis 1, which has 5}}
  %r, %i = onnx.node "TopK" version 11 (%a, %b) {} : (tensor<2x5xf32>, tensor<1xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @argMax(%a: tensor<2x0xf32>) -> tensor<*xindex> {
  // expected-error @below {{ArgMax version 13: searches axis 1, which is empty}}
  %r = onnx.node "ArgMax" version 13 (%a) {axis = 1 : si64} : (tensor<2x0xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @oneHot(%a: tensor<2xi64>, %c: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  // expected-error @below {{OneHot version 11: operand 2 (values) has shape [3], expected [2]}}
  %r = onnx.node "OneHot" version 11 (%a, %b, %c) {} : (tensor<2xi64>, tensor<i64>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

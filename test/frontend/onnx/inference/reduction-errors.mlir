// Errors of type inference for reductions, softmax and cumulative sums.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @axis(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{ReduceSum version 13: axes = 2, expected -2..1}}
  %r = onnx.node "ReduceSum" version 13 (%a, %b) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @twice(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1, -1]> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{ReduceMean version 18: axes lists axis 1 twice}}
  %r = onnx.node "ReduceMean" version 18 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @axesOfData(%a: tensor<2x3xf32>, %b: tensor<1xi64>) -> tensor<*xindex> {
  // expected-error @below {{ReduceSum version 13: operand 1 (axes) must be known at compile time, but depends on the data of argument 1; use --bind argument 1=VALUE}}
  %r = onnx.node "ReduceSum" version 13 (%a, %b) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @softmax(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Softmax version 13: attribute axis = 2, expected -2..1}}
  %r = onnx.node "Softmax" version 13 (%a) {axis = 2 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @cumSum(%a: tensor<3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  // expected-error @below {{CumSum version 14: operand 1 (axis) = 1, expected -1..0}}
  %r = onnx.node "CumSum" version 14 (%a, %b) {} : (tensor<3xf32>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @keepdims(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{ReduceSum version 13: attribute keepdims = 2, expected 0 or 1}}
  %r = onnx.node "ReduceSum" version 13 (%a) {keepdims = 2 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

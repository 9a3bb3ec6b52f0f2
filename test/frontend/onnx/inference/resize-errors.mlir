// Interpolation: invalid nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @neither(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{Resize version 19: has neither scales nor sizes}}
  %r = onnx.node "Resize" version 19 (%a) {} : (tensor<1x1x4x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @scales(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.constant dense<[2.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  // expected-error @below {{Resize version 19: has 2 scales, expected 4}}
  %r = onnx.node "Resize" version 19 (%a, %b, %c) {} : (tensor<1x1x4x4xf32>, none, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @sizesOfData(%a: tensor<1x1x4x4xf32>, %d: tensor<4xi64>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.none
  // expected-error @below {{Resize version 19: operand 3 (sizes) must be known at compile time, but depends on the data of argument 1; use --bind argument 1=VALUE}}
  %r = onnx.node "Resize" version 19 (%a, %b, %c, %d) {} : (tensor<1x1x4x4xf32>, none, none, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @mode(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.none
  %d = onnx.constant dense<[1, 1, 2, 2]> : tensor<4xi64> -> tensor<4xi64>
  // expected-error @below {{Resize version 19: attribute mode = "area", expected one of nearest, linear, cubic}}
  %r = onnx.node "Resize" version 19 (%a, %b, %c, %d) {mode = "area"} : (tensor<1x1x4x4xf32>, none, none, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

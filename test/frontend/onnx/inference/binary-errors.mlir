// Errors of type inference for elementwise operators with several operands.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @shapes(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Mul version 14: operand 1 (B) has shape [2], which does not broadcast with [2, 3]}}
  %r = onnx.node "Mul" version 14 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @types(%a: tensor<2xf32>, %b: tensor<2xf64>) -> tensor<*xindex> {
  // expected-error @below {{Add version 14: operand 1 (B) has element type f64, expected f32, as operand 0 (A)}}
  %r = onnx.node "Add" version 14 (%a, %b) {} : (tensor<2xf32>, tensor<2xf64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @modFloat(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Mod version 13: attribute fmod = 0, expected 1 for floating-point operands}}
  %r = onnx.node "Mod" version 13 (%a, %b) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @whereCondition(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Where version 16: operand 0 (condition) has element type f32, expected i1}}
  %r = onnx.node "Where" version 16 (%a, %b, %c) {} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

// The slope must not broadcast the operand.
onnx.graph @slope(%a: tensor<1x3xf32>, %b: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{PRelu version 16: operand 1 (slope) has shape [2, 3], which does not broadcast to [1, 3]}}
  %r = onnx.node "PRelu" version 16 (%a, %b) {} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @direction(%a: tensor<2xui8>, %b: tensor<2xui8>) -> tensor<*xindex> {
  // expected-error @below {{BitShift version 11: attribute direction = "UP", expected one of LEFT, RIGHT}}
  %r = onnx.node "BitShift" version 11 (%a, %b) {direction = "UP"} : (tensor<2xui8>, tensor<2xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for matrix multiplications.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @matMul(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{MatMul version 13: cannot multiply shapes [2, 3] and [2, 3]}}
  %r = onnx.node "MatMul" version 13 (%a, %b) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gemm(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Gemm version 13: cannot multiply shapes [2, 3] (transposed) and [2, 3] (transposed)}}
  %r = onnx.node "Gemm" version 13 (%a, %b) {transA = 1 : si64, transB = 1 : si64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gemmBias(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x1x1xf32>) -> tensor<*xindex> {
  // expected-error @below {{Gemm version 13: operand 2 (C) has shape [2, 1, 1], which does not broadcast to [2, 4]}}
  %r = onnx.node "Gemm" version 13 (%a, %b, %c) {} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x1x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @einsumTerms(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Einsum version 12: attribute equation = "ij,jk->ik" has 2 terms, expected 1}}
  %r = onnx.node "Einsum" version 12 (%a) {equation = "ij,jk->ik"} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @einsumRank(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Einsum version 12: attribute equation = "ijk->i" does not match operand 0 (Inputs) of shape [2, 3]}}
  %r = onnx.node "Einsum" version 12 (%a) {equation = "ijk->i"} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @einsumExtents(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<*xindex> {
  // expected-error @below {{Einsum version 12: operand 1 (Inputs) has extent 4 on axis 0, another operand 3}}
  %r = onnx.node "Einsum" version 12 (%a, %b) {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @einsumResult(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Einsum version 12: attribute equation = "ij->iz" has 'z' in its result, expected each letter once and in an operand}}
  %r = onnx.node "Einsum" version 12 (%a) {equation = "ij->iz"} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

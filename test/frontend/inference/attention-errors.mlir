// Attention and rotary embedding. Wrong nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @headNumbers(%a: tensor<2x4x8x16xf32>, %b: tensor<2x3x8x16xf32>, %c: tensor<2x3x8x16xf32>) -> tensor<*xf32> {
  // expected-error @below {{Attention version 23: operands of shapes [2, 4, 8, 16], [2, 3, 8, 16], [2, 3, 8, 16] do not fit as query, key and value}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c) {} : (tensor<2x4x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @packed(%a: tensor<2x8x64xf32>, %b: tensor<2x8x64xf32>, %c: tensor<2x8x64xf32>) -> tensor<*xf32> {
  // expected-error @below {{Attention version 23: attribute q_num_heads = 5 does not divide 64 columns of operand 0 (Q)}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c) {q_num_heads = 5 : si64, kv_num_heads = 4 : si64} : (tensor<2x8x64xf32>, tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @mask(%a: tensor<2x4x8x16xf32>, %b: tensor<2x4x8x16xf32>, %c: tensor<2x4x8x16xf32>, %d: tensor<8x9xf32>) -> tensor<*xf32> {
  // expected-error @below {{Attention version 23: operand 3 (attn_mask) has shape [8, 9], which does not broadcast to [2, 4, 8, 8]}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c, %d) {} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x9xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

// -----

onnx.graph @rotary(%a: tensor<2x8x64xf32>, %b: tensor<2x8x8xf32>, %c: tensor<2x8x8xf32>) -> tensor<*xf32> {
  // expected-error @below {{RotaryEmbedding version 23: attribute num_heads = 0, expected at least 1 for an operand of rank 3}}
  %r = onnx.node "RotaryEmbedding" version 23 (%a, %b, %c) {} : (tensor<2x8x64xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<*xf32>
  onnx.return %r : tensor<*xf32>
}

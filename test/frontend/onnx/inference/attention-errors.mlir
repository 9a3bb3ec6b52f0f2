// Errors of type inference for attention and rotary embedding.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @headNumbers(%a: tensor<2x4x8x16xf32>, %b: tensor<2x3x8x16xf32>, %c: tensor<2x3x8x16xf32>) -> tensor<*xindex> {
  // expected-error @below {{Attention version 23: operands of shapes [2, 4, 8, 16], [2, 3, 8, 16], [2, 3, 8, 16] do not match as query, key and value}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c) {} : (tensor<2x4x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @packed(%a: tensor<2x8x64xf32>, %b: tensor<2x8x64xf32>, %c: tensor<2x8x64xf32>) -> tensor<*xindex> {
  // expected-error @below {{Attention version 23: attribute q_num_heads = 5 does not divide 64 columns of operand 0 (Q)}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c) {q_num_heads = 5 : si64, kv_num_heads = 4 : si64} : (tensor<2x8x64xf32>, tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @mask(%a: tensor<2x4x8x16xf32>, %b: tensor<2x4x8x16xf32>, %c: tensor<2x4x8x16xf32>, %d: tensor<8x9xf32>) -> tensor<*xindex> {
  // expected-error @below {{Attention version 23: operand 3 (attn_mask) has shape [8, 9], which does not broadcast to [2, 4, 8, 8]}}
  %r = onnx.node "Attention" version 23 (%a, %b, %c, %d) {} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x9xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rotary(%a: tensor<2x8x64xf32>, %b: tensor<2x8x8xf32>, %c: tensor<2x8x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{RotaryEmbedding version 23: attribute num_heads = 0, expected a divisor of 64 for an operand of rank 3}}
  %r = onnx.node "RotaryEmbedding" version 23 (%a, %b, %c) {} : (tensor<2x8x64xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rotaryTables(%a: tensor<2x4x8x64xf32>, %b: tensor<1x8x32xf32>, %c: tensor<50x32xf32>, %p: tensor<2x9xi64>) -> tensor<*xindex> {
  // expected-error @below {{RotaryEmbedding version 23: operand 1 (cos_cache) has shape [1, 8, 32], expected positions [2, 8]}}
  %q = onnx.node "RotaryEmbedding" version 23 (%a, %b, %b) {} : (tensor<2x4x8x64xf32>, tensor<1x8x32xf32>, tensor<1x8x32xf32>) -> tensor<*xindex>
  // expected-error @below {{RotaryEmbedding version 23: operand 1 (cos_cache) has rank 2, expected 3}}
  %r = onnx.node "RotaryEmbedding" version 23 (%a, %c, %c) {} : (tensor<2x4x8x64xf32>, tensor<50x32xf32>, tensor<50x32xf32>) -> tensor<*xindex>
  // expected-error @below {{RotaryEmbedding version 23: operand 3 (position_ids) has shape [2, 9], expected positions [2, 8]}}
  %s = onnx.node "RotaryEmbedding" version 23 (%a, %c, %c, %p) {} : (tensor<2x4x8x64xf32>, tensor<50x32xf32>, tensor<50x32xf32>, tensor<2x9xi64>) -> tensor<*xindex>
  %t = onnx.node "Sum" version 13 (%q, %r, %s) {} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %t : tensor<*xindex>
}

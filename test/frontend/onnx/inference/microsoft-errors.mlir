// Errors of type inference for onnxruntime's operators, including features that training does not support.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

// Schemas are checked as for operators of ai.onnx.
onnx.graph @schemas(%x: tensor<2x4xf32>, %b: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.QuickGelu version 1: has an unknown attribute 'beta', expected alpha}}
  %a = onnx.node domain "com.microsoft" "QuickGelu" version 1 (%x) {beta = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.BiasGelu version 1: has 1 operands, expected 2}}
  %c = onnx.node domain "com.microsoft" "BiasGelu" version 1 (%x) {} : (tensor<2x4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.BiasGelu version 1: operand 1 (B) has element type i32, expected one of f32, f64, f16, bf16}}
  %d = onnx.node domain "com.microsoft" "BiasGelu" version 1 (%x, %i) {} : (tensor<2x4xf32>, tensor<4xi32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: attribute num_heads is missing, expected INT}}
  %e = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %x) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<*xindex>
  onnx.return %a, %c, %d, %e : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @biases(%x: tensor<2x5xf32>, %b: tensor<4xf32>, %f: tensor<5xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.FastGelu version 1: operand 1 (bias) has shape [4], expected [5]}}
  %a = onnx.node domain "com.microsoft" "FastGelu" version 1 (%x, %b) {} : (tensor<2x5xf32>, tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.BiasSplitGelu version 1: operand 0 (X) has shape [2, 5], expected an even number of columns}}
  %c = onnx.node domain "com.microsoft" "BiasSplitGelu" version 1 (%x, %f) {} : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<*xindex>
  onnx.return %a, %c : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @activations(%x: tensor<4x4xf32>, %i: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.FusedGemm version 1: attribute activation = "Gelu", expected one of Relu, Sigmoid, Tanh, Softplus, Softsign, LeakyRelu, ThresholdedRelu, Elu, Selu, HardSigmoid, Clip}}
  %a = onnx.node domain "com.microsoft" "FusedGemm" version 1 (%x, %x) {activation = "Gelu"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.FusedConv version 1: attribute activation_params has 2 values, expected at most 1}}
  %b = onnx.node domain "com.microsoft" "FusedConv" version 1 (%i, %w) {activation = "LeakyRelu", activation_params = array<f32: 0.1, 0.2>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<*xindex>
  %none = onnx.none
  // expected-error @below {{com.microsoft.FusedConv version 1: operand 3 (Z) has shape [4, 4], expected [1, 2, 4, 4]}}
  %c = onnx.node domain "com.microsoft" "FusedConv" version 1 (%i, %w, %none, %x) {} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none, tensor<4x4xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @products(%x: tensor<4x6xf32>, %n: tensor<1x4x4x3xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.FusedMatMul version 1: attributes transBatchA and transBatchB require operands of one rank of at least 3, got shapes [4, 6] and [4, 6]}}
  %a = onnx.node domain "com.microsoft" "FusedMatMul" version 1 (%x, %x) {transBatchA = 1 : si64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.FusedMatMul version 1: cannot multiply shapes [4, 6] and [4, 6]}}
  %b = onnx.node domain "com.microsoft" "FusedMatMul" version 1 (%x, %x) {} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.NhwcConv version 1: operand 1 (W) has shape [2, 2, 1, 1], expected 3 on axis 1 (3 channels in 1 groups)}}
  %c = onnx.node domain "com.microsoft" "NhwcConv" version 1 (%n, %w) {} : (tensor<1x4x4x3xf32>, tensor<2x2x1x1xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @normalizations(%x: tensor<2x3x4xf32>, %s: tensor<3x3x4xf32>, %g: tensor<4xf32>, %i: tensor<2x9xi32>, %t: tensor<8x4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.SkipLayerNormalization version 1: operand 1 (skip) has shape [3, 3, 4], which does not broadcast to [2, 3, 4]}}
  %a = onnx.node domain "com.microsoft" "SkipLayerNormalization" version 1 (%x, %s, %g) {} : (tensor<2x3x4xf32>, tensor<3x3x4xf32>, tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.SkipSimplifiedLayerNormalization version 1: result 1 is not supported; expected it to be omitted}}
  %b, %m = onnx.node domain "com.microsoft" "SkipSimplifiedLayerNormalization" version 1 (%x, %x, %g) {} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  %none = onnx.none
  // expected-error @below {{com.microsoft.EmbedLayerNormalization version 1: operand 1 (segment_ids) and operand 4 (segment_embedding) require each other; expected both or none}}
  %c = onnx.node domain "com.microsoft" "EmbedLayerNormalization" version 1 (%i, %i, %t, %t, %none, %g, %g) {} : (tensor<2x9xi32>, tensor<2x9xi32>, tensor<8x4xf32>, tensor<8x4xf32>, none, tensor<4xf32>, tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.EmbedLayerNormalization version 1: operand 3 (position_embedding) has shape [8, 4], expected at least 9 positions}}
  %d = onnx.node domain "com.microsoft" "EmbedLayerNormalization" version 1 (%i, %none, %t, %t, %none, %g, %g) {} : (tensor<2x9xi32>, none, tensor<8x4xf32>, tensor<8x4xf32>, none, tensor<4xf32>, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c, %d : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @attention(%x: tensor<2x5x6xf32>, %w: tensor<6x18xf32>, %v: tensor<6x20xf32>, %past: tensor<2x2x3x4x2xf32>, %m: tensor<8xi32>, %b: tensor<2x3x5x6xf32>) -> tensor<*xindex> {
  %none = onnx.none
  // expected-error @below {{com.microsoft.Attention version 1: attribute num_heads = 4 does not divide 6 columns of the queries}}
  %a = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w) {num_heads = 4 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: operand 1 (weights) has shape [6, 20], expected 6 rows and the columns of queries, keys and values [6, 6, 6]}}
  %c = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %v) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<6x20xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: operand 4 (past) is not supported: training computes whole sequences. Export the model without a cache}}
  %d = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w, %none, %none, %past) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>, none, none, tensor<2x2x3x4x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: attribute do_rotary = 1 is not supported: the node has no tables of angles}}
  %e = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w) {num_heads = 3 : si64, do_rotary = 1 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: operand 3 (mask_index) has shape [8]: cumulative lengths are not supported; expected the number of keys, [2], or a mask [2, 5]}}
  %f = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w, %none, %m) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>, none, tensor<8xi32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.Attention version 1: operand 5 (attention_bias) has shape [2, 3, 5, 6], expected [2, 3, 5, 5], where axes 0 and 1 may be 1}}
  %g = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w, %none, %none, %none, %b) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>, none, none, none, tensor<2x3x5x6xf32>) -> tensor<*xindex>
  %s = onnx.node "Sum" version 13 (%a, %c, %d, %e, %f, %g) {} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %s : tensor<*xindex>
}

// -----

onnx.graph @heads(%x: tensor<2x5x6xf32>, %k: tensor<2x7x6xf32>, %p: tensor<2x3x4x2xf32>, %m: tensor<4xi32>) -> tensor<*xindex> {
  %none = onnx.none
  // expected-error @below {{com.microsoft.MultiHeadAttention version 1: operand 1 (key) is required, unless operand 0 (query) has the packed shape [batch, length, heads, 3, size]}}
  %a = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x) {num_heads = 3 : si64} : (tensor<2x5x6xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MultiHeadAttention version 1: operands of shapes [2, 5, 6], [2, 7, 6], [2, 5, 6] do not match as query, key and value}}
  %b = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %k, %x) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<2x7x6xf32>, tensor<2x5x6xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MultiHeadAttention version 1: attribute unidirectional = 1 requires as many keys as queries, got 7 and 5}}
  %c = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %k, %k) {num_heads = 3 : si64, unidirectional = 1 : si64} : (tensor<2x5x6xf32>, tensor<2x7x6xf32>, tensor<2x7x6xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MultiHeadAttention version 1: operand 6 (past_key) is not supported: training computes whole sequences. Export the model without a cache}}
  %d = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %x, %x, %none, %none, %none, %p, %p) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<2x5x6xf32>, tensor<2x5x6xf32>, none, none, none, tensor<2x3x4x2xf32>, tensor<2x3x4x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MultiHeadAttention version 1: operand 4 (key_padding_mask) has shape [4], expected one of [2], [2, 5], [2, 5, 5]}}
  %e = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %x, %x, %none, %m) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<2x5x6xf32>, tensor<2x5x6xf32>, none, tensor<4xi32>) -> tensor<*xindex>
  %s = onnx.node "Sum" version 13 (%a, %b, %c, %d, %e) {} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %s : tensor<*xindex>
}

// -----

onnx.graph @groups(%q: tensor<2x5x16xf32>, %k: tensor<2x5x8xf32>, %past: tensor<2x2x3x4xf32> {onnx.name = "past"}, %l: tensor<2xi32>, %t: tensor<i32>, %cos: tensor<4x2xf32>, %sink: tensor<4xf32>) -> tensor<*xindex> {
  %none = onnx.none
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: operand 3 (past_key) has shape [2, 2, 3, 4], expected no past positions (0 on axis 2): training computes whole sequences. Use --bind past=FILE with an array of shape [2, 2, 0, 4]}}
  %a = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %past, %past, %l, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  %six = onnx.constant dense<6> : tensor<i32> -> tensor<i32>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: operand 6 (total_sequence_length) is 6, expected the length of the sequence, 5: training computes whole sequences}}
  %b = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %six) {num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: operand 7 (cos_cache) is required with do_rotary = 1}}
  %c = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64, do_rotary = 1 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: operand 7 (cos_cache) has shape [4, 2], expected at least 5 positions and at most 2 angles}}
  %d = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t, %cos, %cos) {num_heads = 4 : si64, kv_num_heads = 2 : si64, do_rotary = 1 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: attribute smooth_softmax = 1 is not supported: attention has no sink}}
  %e = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64, smooth_softmax = 1 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: operand 11 (head_sink) is not supported: attention has no sink}}
  %f = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t, %none, %none, %none, %none, %sink) {num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>, none, none, none, none, tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: attribute local_window_size = 2, expected -1, or at least 1 with causal = 1}}
  %g = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64, causal = 0 : si64, local_window_size = 2 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GroupQueryAttention version 1: attributes num_heads = 3 and kv_num_heads = 2, expected a multiple of kv_num_heads}}
  %h = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %k, %k, %none, %none, %l, %t) {num_heads = 3 : si64, kv_num_heads = 2 : si64} : (tensor<2x5x16xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  %s = onnx.node "Sum" version 13 (%a, %b, %c, %d, %e, %f, %g, %h) {} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %s : tensor<*xindex>
}

// -----

onnx.graph @rotary(%x: tensor<2x5x12xf32>, %p: tensor<2x6xi64>, %o: tensor<1xi64>, %t: tensor<9x2xf32>) -> tensor<*xindex> {
  // expected-error @below {{com.microsoft.RotaryEmbedding version 1: operand 1 (position_ids) has shape [2, 6], expected [1] or [2, 5]}}
  %a = onnx.node domain "com.microsoft" "RotaryEmbedding" version 1 (%x, %p, %t, %t) {} : (tensor<2x5x12xf32>, tensor<2x6xi64>, tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.RotaryEmbedding version 1: attribute num_heads = 0, expected a divisor of 12 for an operand of rank 3}}
  %b = onnx.node domain "com.microsoft" "RotaryEmbedding" version 1 (%x, %o, %t, %t) {rotary_embedding_dim = 4 : si64} : (tensor<2x5x12xf32>, tensor<1xi64>, tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.RotaryEmbedding version 1: attribute is_packed_batching = 1 is not supported; expected sequences of one length}}
  %c = onnx.node domain "com.microsoft" "RotaryEmbedding" version 1 (%x, %o, %t, %t) {is_packed_batching = 1 : si64} : (tensor<2x5x12xf32>, tensor<1xi64>, tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.RotaryEmbedding version 1: rotates 6 of 6 elements by 2 angles, expected an even number and half as many angles}}
  %d = onnx.node domain "com.microsoft" "RotaryEmbedding" version 1 (%x, %o, %t, %t) {num_heads = 2 : si64} : (tensor<2x5x12xf32>, tensor<1xi64>, tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<*xindex>
  %s = onnx.node "Sum" version 13 (%a, %b, %c, %d) {} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %s : tensor<*xindex>
}

// -----

onnx.graph @blocks(%x: tensor<2x35xf32>, %w: tensor<5x3x8xui8>, %s: tensor<5x3xf32>, %z: tensor<5x3xui8>, %h: tensor<5x3xf16>, %g: tensor<36xi32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  // expected-error @below {{com.microsoft.MatMulNBits version 1: attribute bits = 3, expected 2, 4 or 8}}
  %y0 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 35 : si64, N = 5 : si64, bits = 3 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: attribute block_size = 24, expected a power of 2 of at least 16}}
  %y1 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 35 : si64, N = 5 : si64, block_size = 24 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: attributes N = 0 and K = 35, expected at least 1}}
  %y2 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 35 : si64, N = 0 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: attribute weight_prepacked = 1 is not supported: the layout is that of a GPU's kernels. Quantize the model without prepacking}}
  %y3 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 35 : si64, N = 5 : si64, block_size = 16 : si64, weight_prepacked = 1 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: operand 0 (A) has shape [2, 35], expected 34 columns}}
  %y4 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 34 : si64, N = 5 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: operand 1 (B) has shape [5, 3, 8], expected [5, 3, 16]}}
  %y5 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s) {K = 35 : si64, N = 5 : si64, bits = 8 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: operand 3 (zero_points) has shape [5, 3], expected [5, 2]}}
  %y6 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s, %z) {K = 35 : si64, N = 5 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>, tensor<5x3xui8>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: operand 3 (zero_points) has element type f16, expected f32, as operand 0 (A)}}
  %y7 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s, %h) {K = 35 : si64, N = 5 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>, tensor<5x3xf16>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulNBits version 1: operand 4 (g_idx) has shape [36], expected [35]}}
  %y8 = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s, %none, %g) {K = 35 : si64, N = 5 : si64, block_size = 16 : si64} : (tensor<2x35xf32>, tensor<5x3x8xui8>, tensor<5x3xf32>, none, tensor<36xi32>) -> tensor<*xindex>
  onnx.return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @tables(%w: tensor<6x8xui8>, %f: tensor<6x20xf8E4M3FN>, %e: tensor<6x20xui8>, %i: tensor<2xi64>, %s: tensor<6x1xf32>, %t: tensor<6x3xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.GatherBlockQuantized version 1: attributes quantize_axis and gather_axis are 0 and 0, expected the last axis and 0 for bytes}}
  %y0 = onnx.node domain "com.microsoft" "GatherBlockQuantized" version 1 (%w, %i, %s) {block_size = 16 : si64, quantize_axis = 0 : si64} : (tensor<6x8xui8>, tensor<2xi64>, tensor<6x1xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GatherBlockQuantized version 1: operand 2 (scales) has shape [6, 3], expected [6, 1]}}
  %y1 = onnx.node domain "com.microsoft" "GatherBlockQuantized" version 1 (%w, %i, %t) {block_size = 16 : si64} : (tensor<6x8xui8>, tensor<2xi64>, tensor<6x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GatherBlockQuantized version 1: operand 2 (scales) has shape [6, 3], which does not broadcast to [6, 2]}}
  %y2 = onnx.node domain "com.microsoft" "GatherBlockQuantized" version 1 (%f, %i, %t) {block_size = 16 : si64} : (tensor<6x20xf8E4M3FN>, tensor<2xi64>, tensor<6x3xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.GatherBlockQuantized version 1: operand 3 (zero_points) is not supported: 8-bit floats have no zero point}}
  %y3 = onnx.node domain "com.microsoft" "GatherBlockQuantized" version 1 (%f, %i, %s, %f) {block_size = 0 : si64} : (tensor<6x20xf8E4M3FN>, tensor<2xi64>, tensor<6x1xf32>, tensor<6x20xf8E4M3FN>) -> tensor<*xindex>
  onnx.return %y0, %y1, %y2, %y3 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @codes(%x: tensor<2x32xf32>, %w: tensor<64xui8>, %s: tensor<8xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{com.microsoft.MatMulBnb4 version 1: attribute quant_type = 2, expected 0 for FP4 or 1 for NF4}}
  %y0 = onnx.node domain "com.microsoft" "MatMulBnb4" version 1 (%x, %w, %s) {K = 32 : si64, N = 4 : si64, block_size = 16 : si64, quant_type = 2 : si64} : (tensor<2x32xf32>, tensor<64xui8>, tensor<8xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulBnb4 version 1: attribute transB = 0 is not supported: onnxruntime only multiplies by the transposed matrix}}
  %y1 = onnx.node domain "com.microsoft" "MatMulBnb4" version 1 (%x, %w, %s) {K = 32 : si64, N = 4 : si64, block_size = 16 : si64, quant_type = 1 : si64, transB = 0 : si64} : (tensor<2x32xf32>, tensor<64xui8>, tensor<8xf32>) -> tensor<*xindex>
  // expected-error @below {{com.microsoft.MatMulBnb4 version 1: operand 2 (absmax) has shape [8], expected [4]}}
  %y2 = onnx.node domain "com.microsoft" "MatMulBnb4" version 1 (%x, %w, %s) {K = 32 : si64, N = 4 : si64, block_size = 32 : si64, quant_type = 1 : si64} : (tensor<2x32xf32>, tensor<64xui8>, tensor<8xf32>) -> tensor<*xindex>
  onnx.return %y0, %y1, %y2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// FlexAttention: invalid nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @shapes(%q: tensor<1x3x4x8xf32>, %k: tensor<1x2x4x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{ai.onnx.preview.FlexAttention version 1: operands of shapes [1, 3, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8] do not match as query, key and value}}
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %k, %k) {} : (tensor<1x3x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @integers(%q: tensor<1x2x4x8xi32>) -> tensor<*xindex> {
  // expected-error @below {{ai.onnx.preview.FlexAttention version 1: operand 0 (Q) has element type i32}}
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %q, %q) {} : (tensor<1x2x4x8xi32>, tensor<1x2x4x8xi32>, tensor<1x2x4x8xi32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @precision(%q: tensor<1x2x4x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{ai.onnx.preview.FlexAttention version 1: attribute softmax_precision is i64, expected a float type of 16 bits or more}}
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %q, %q) {softmax_precision = 7 : si64} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @result(%q: tensor<1x2x4x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{ai.onnx.preview.FlexAttention version 1: the graph score_mod returns tensor<1x2x4x4xi1>, expected tensor<1x2x4x4xf32>}}
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %q, %q) {} graphs ["score_mod"] {
  ^bb0(%scores: tensor<*xindex>):
    %r = onnx.node "IsNaN" version 13 (%scores) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %r : tensor<*xindex>
  } : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @signature(%q: tensor<1x2x4x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{ai.onnx.preview.FlexAttention version 1: the graph prob_mod has 2 inputs, expected 1}}
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %q, %q) {} graphs ["prob_mod"] {
  ^bb0(%probs: tensor<*xindex>, %other: tensor<*xindex>):
    onnx.return %probs : tensor<*xindex>
  } : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

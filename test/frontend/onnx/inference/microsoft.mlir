// Types of onnxruntime's operators. Each operator has a schema of version 1.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file | FileCheck %s

// CHECK-LABEL: @normalizations
// CHECK: onnx.node "LayerNormalization" version 13{{.*}} -> tensor<2x4xf32>
// CHECK: onnx.node "SimplifiedLayerNormalization" version 17{{.*}} -> (tensor<2x4xf16>, tensor<2x1xf32>)
// CHECK: onnx.node domain "com.microsoft" "SkipLayerNormalization" {{.*}} -> (tensor<2x4xf32>, none, none, tensor<2x4xf32>)
onnx.graph @normalizations(%a: tensor<2x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf16>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %l = onnx.node "LayerNormalization" version 13 (%a, %b, %b) {} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xindex>
  %s, %i = onnx.node "SimplifiedLayerNormalization" version 17 (%a, %c) {} : (tensor<2x4xf32>, tensor<4xf16>) -> (tensor<*xindex>, tensor<*xindex>)
  %y, %m, %v, %t = onnx.node domain "com.microsoft" "SkipLayerNormalization" version 1 (%a, %a, %b, %b, %b) {} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<*xindex>, none, none, tensor<*xindex>)
  onnx.return %l, %i, %y, %t : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// CHECK-LABEL: @attention
// CHECK: onnx.node domain "com.microsoft" "Attention" {{.*}} -> (tensor<2x5x6xf32>, tensor<2x2x3x5x2xf32>)
// CHECK: onnx.node domain "com.microsoft" "MultiHeadAttention" {{.*}} -> (tensor<2x5x6xf32>, tensor<2x3x7x2xf32>, tensor<2x3x7x2xf32>)
// CHECK: onnx.node domain "com.microsoft" "GroupQueryAttention" {{.*}} -> (tensor<2x5x16xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>)
onnx.graph @attention(%x: tensor<2x5x6xf32>, %w: tensor<6x18xf32>, %k: tensor<2x7x3x2x2xf32>, %q: tensor<2x5x32xf32>, %l: tensor<2xi32>, %t: tensor<i32>, %past: tensor<2x2x0x4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  %a, %p = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<6x18xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  %m, %pk, %pv = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %k) {num_heads = 3 : si64} : (tensor<2x5x6xf32>, tensor<2x7x3x2x2xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  %g, %gk, %gv = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %none, %none, %past, %past, %l, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<2x5x32xf32>, none, none, tensor<2x2x0x4xf32>, tensor<2x2x0x4xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %p, %pv, %gv : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// The embedding has no segments, and mask_index has the type of the ids.

// CHECK-LABEL: @embedding
// CHECK: onnx.node domain "com.microsoft" "EmbedLayerNormalization" {{.*}} -> (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5x6xf32>)
onnx.graph @embedding(%i: tensor<2x5xi32>, %w: tensor<9x6xf32>, %p: tensor<8x6xf32>, %s: tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  %y, %m, %t = onnx.node domain "com.microsoft" "EmbedLayerNormalization" version 1 (%i, %none, %w, %p, %none, %s, %s, %i) {} : (tensor<2x5xi32>, none, tensor<9x6xf32>, tensor<8x6xf32>, none, tensor<6xf32>, tensor<6xf32>, tensor<2x5xi32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %y, %m, %t : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// CHECK-LABEL: @contractions
// CHECK: onnx.node domain "com.microsoft" "FusedMatMul" {{.*}} -> tensor<3x4x2x7xf32>
// CHECK: onnx.node domain "com.microsoft" "FusedGemm" {{.*}} -> tensor<6x6xf32>
// CHECK: onnx.node domain "com.microsoft" "NhwcConv" {{.*}} -> tensor<2x2x3x8xf32>
// CHECK: onnx.node domain "com.microsoft" "BiasSplitGelu" {{.*}} -> tensor<2x3x4x3xf32>
onnx.graph @contractions(%a: tensor<2x3x4x6xf32>, %b: tensor<7x3x4x6xf32>, %g: tensor<4x6xf32>, %w: tensor<8x6x2x2xf32>, %s: tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %m = onnx.node domain "com.microsoft" "FusedMatMul" version 1 (%a, %b) {transBatchA = 1 : si64, transBatchB = 1 : si64, transB = 1 : si64} : (tensor<2x3x4x6xf32>, tensor<7x3x4x6xf32>) -> tensor<*xindex>
  %n = onnx.node domain "com.microsoft" "FusedGemm" version 1 (%g, %g) {transA = 1 : si64, activation = "Relu"} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<*xindex>
  %c = onnx.node domain "com.microsoft" "NhwcConv" version 1 (%a, %w) {} : (tensor<2x3x4x6xf32>, tensor<8x6x2x2xf32>) -> tensor<*xindex>
  %d = onnx.node domain "com.microsoft" "BiasSplitGelu" version 1 (%a, %s) {} : (tensor<2x3x4x6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %m, %n, %c, %d : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

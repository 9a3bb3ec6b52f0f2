// Initializers of files that onnxruntime optimized.
// RUN: mtc-opt %s --split-input-file --onnx-choose-parameters | FileCheck %s

// The optimizer merged the weights of queries, keys and values, which the exporter's list does not have. Other initializers that are not
// listed stay constants.

// CHECK-LABEL: onnx.graph @main
// CHECK: onnx.initializer "attention_qkv_weight" {{{.*}}reason = "weights of queries, keys and values that onnxruntime merged", role = "parameter"}
// CHECK: onnx.initializer "attention_qkv_bias" {{{.*}}reason = "weights of queries, keys and values that onnxruntime merged", role = "parameter"}
// CHECK: onnx.initializer "mha_qkv_bias" {{{.*}}reason = "weights of queries, keys and values that onnxruntime merged", role = "parameter"}
// CHECK: onnx.initializer "other" {{{.*}}reason = "computed by the exporter", role = "constant"}
onnx.graph @main(%x: tensor<2x4x6xf32>) -> (tensor<*xindex>) attributes {onnx.producer = "pytorch", onnx.signature = ["w"]} {
  %w = onnx.initializer "attention_qkv_weight" : tensor<6x18xf32>
  %b = onnx.initializer "attention_qkv_bias" : tensor<18xf32>
  %c = onnx.initializer "mha_qkv_bias" : tensor<18xf32>
  %o = onnx.initializer "other" : tensor<2x4x6xf32>
  %a = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w, %b) {num_heads = 3 : si64} {onnx.index = 0 : i64} : (tensor<2x4x6xf32>, tensor<6x18xf32>, tensor<18xf32>) -> tensor<*xindex>
  %m = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%a, %a, %a, %c) {num_heads = 3 : si64} {onnx.index = 1 : i64} : (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<18xf32>) -> tensor<*xindex>
  %y = onnx.node "Add" version 14 (%m, %o) {} {onnx.index = 2 : i64} : (tensor<*xindex>, tensor<2x4x6xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

// Tables of angles are no parameters.

// CHECK-LABEL: onnx.graph @main
// CHECK: onnx.initializer "a.cos" {{{.*}}reason = "sines or cosines of a rotary embedding", role = "constant"}
// CHECK: onnx.initializer "a.sin" {{{.*}}reason = "sines or cosines of a rotary embedding", role = "constant"}
// CHECK: onnx.initializer "b.cos" {{{.*}}reason = "sines or cosines of a rotary embedding", role = "constant"}
onnx.graph @main(%x: tensor<2x5x16xf32>, %k: tensor<2x5x8xf32>, %l: tensor<2xi32>, %t: tensor<i32>, %p: tensor<2x5xi64>) -> (tensor<*xindex>) {
  %none = onnx.none
  %c = onnx.initializer "a.cos" : tensor<8x2xf32>
  %s = onnx.initializer "a.sin" : tensor<8x2xf32>
  %d = onnx.initializer "b.cos" : tensor<8x2xf32>
  %r = onnx.node domain "com.microsoft" "RotaryEmbedding" version 1 (%x, %p, %c, %s) {} {onnx.index = 0 : i64} : (tensor<2x5x16xf32>, tensor<2x5xi64>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<*xindex>
  %y = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%r, %k, %k, %none, %none, %l, %t, %d, %s) {num_heads = 4 : si64, kv_num_heads = 2 : si64, do_rotary = 1 : si64} {onnx.index = 1 : i64} : (tensor<*xindex>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, none, none, tensor<2xi32>, tensor<i32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

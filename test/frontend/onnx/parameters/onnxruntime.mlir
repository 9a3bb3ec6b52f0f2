// Initializers of files that onnxruntime optimized.
// RUN: mtc-opt %s --split-input-file --onnx-choose-parameters | FileCheck %s

// The optimizer merged the weights of queries, keys and values, which the exporter did not list. Other initializers that are not listed
// remain constants.

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

// Sines and cosines used by a rotary embedding operator are not parameters.
// RUN: mtc-opt %s --split-input-file --onnx-choose-parameters | FileCheck %s

// onnxruntime's operators.

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

// -----

// ONNX's operator.

// CHECK-LABEL: onnx.graph @main
// CHECK: onnx.initializer "cos" {{{.*}}reason = "sines or cosines of a rotary embedding", role = "constant"}
// CHECK: onnx.initializer "sin" {{{.*}}reason = "sines or cosines of a rotary embedding", role = "constant"}
// CHECK: onnx.initializer "scale" {{{.*}}role = "parameter"}
onnx.graph @main(%x: tensor<2x4x5x8xf32>) -> (tensor<*xindex>) {
  %c = onnx.initializer "cos" : tensor<2x5x4xf32>
  %s = onnx.initializer "sin" : tensor<2x5x4xf32>
  %w = onnx.initializer "scale" : tensor<8xf32>
  %m = onnx.node "Mul" version 14 (%x, %w) {} {onnx.index = 0 : i64} : (tensor<2x4x5x8xf32>, tensor<8xf32>) -> tensor<*xindex>
  %y = onnx.node "RotaryEmbedding" version 23 (%m, %c, %s) {} {onnx.index = 1 : i64} : (tensor<*xindex>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Scales and zero points of quantized tensors are constants, also those of onnxruntime's operators.
// RUN: mtc-opt %s --split-input-file --onnx-choose-parameters | FileCheck %s

// CHECK-LABEL: onnx.graph @main
// CHECK: onnx.initializer "scales" {{{.*}}reason = "a scale of a quantized tensor", role = "constant"}
// CHECK: onnx.initializer "zeros" {{{.*}}reason = "a scale of a quantized tensor", role = "constant"}
// CHECK: onnx.initializer "bias" {{{.*}}role = "parameter"}
onnx.graph @main(%x: tensor<2x32xf32>, %i: tensor<2xi64>) -> (tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  %w = onnx.initializer "codes" : tensor<5x2x8xui8>
  %s = onnx.initializer "scales" : tensor<5x2xf32>
  %z = onnx.initializer "zeros" : tensor<5x2xf32>
  %b = onnx.initializer "bias" : tensor<5xf32>
  %t = onnx.initializer "table" : tensor<5x16xui8>
  %y = onnx.node domain "com.microsoft" "MatMulNBits" version 1 (%x, %w, %s, %z, %none, %b) {K = 32 : si64, N = 5 : si64, block_size = 16 : si64} {onnx.index = 0 : i64} : (tensor<2x32xf32>, tensor<5x2x8xui8>, tensor<5x2xf32>, tensor<5x2xf32>, none, tensor<5xf32>) -> tensor<*xindex>
  %g = onnx.node domain "com.microsoft" "GatherBlockQuantized" version 1 (%t, %i, %s) {block_size = 16 : si64} {onnx.index = 1 : i64} : (tensor<5x16xui8>, tensor<2xi64>, tensor<5x2xf32>) -> tensor<*xindex>
  onnx.return %y, %g : tensor<*xindex>, tensor<*xindex>
}

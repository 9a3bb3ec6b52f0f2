// RUN: mtc-opt %s --onnx-fold-initializers | FileCheck %s --implicit-check-not=onnx.module --implicit-check-not=onnx.results --implicit-check-not=sample --implicit-check-not=kind
// RUN: mtc-opt %s --onnx-fold-initializers=keep-vectors | FileCheck %s --check-prefix=VECTORS

// CHECK-LABEL: onnx.graph @main
// CHECK-NOT: onnx.signature
// CHECK: onnx.initializer "w" {role = "parameter", split_from = "v"}
// CHECK: onnx.constant dense<5.000000e-01> : tensor<f32>
// A slice of a table is not the table.
// CHECK: onnx.initializer "table" {role = "constant"}
// CHECK: onnx.initializer "lost" {missing, role = "constant"}
// Frozen parameters are kept, unless they may be an attribute of an operator.
// CHECK: onnx.initializer "matrix" {role = "frozen"}
// CHECK: onnx.initializer "bias" {role = "frozen"}
// CHECK: onnx.constant dense<2.000000e+00> : tensor<4xf32>
// VECTORS: onnx.initializer "scales" {role = "frozen"}
onnx.graph @main(%x: tensor<4xf32>) -> (tensor<1x4xf32>) attributes {onnx.producer = "pytorch", onnx.signature = ["w"]} {
  %w = onnx.initializer "w" {kind = "PARAMETER", role = "parameter", sample = dense<1.0> : tensor<4xf32>, split_from = "v"} : tensor<4xf32>
  %e = onnx.initializer "eps" {role = "constant", sample = dense<0.5> : tensor<f32>} : tensor<f32>
  %t = onnx.initializer "table" {role = "constant", sample = dense<1.0> : tensor<2xf32>} : tensor<4xf32>
  %l = onnx.initializer "lost" {missing, role = "constant"} : tensor<4xf32>
  %m = onnx.initializer "matrix" {role = "frozen", sample = dense<1.0> : tensor<1x4xf32>} : tensor<1x4xf32>
  %b = onnx.initializer "bias" {kind = "PARAMETER", role = "frozen", sample = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
  %s = onnx.initializer "scales" {role = "frozen", sample = dense<2.0> : tensor<4xf32>} : tensor<4xf32>
  %0 = onnx.node "Sum" version 13 (%x, %w, %e, %t, %l, %m, %b, %s) {} {onnx.index = 0 : i64, onnx.module = "m", onnx.results = ["y"]}
      : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  onnx.return %0 : tensor<1x4xf32>
}

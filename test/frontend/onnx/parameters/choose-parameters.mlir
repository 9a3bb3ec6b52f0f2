// RUN: mtc-opt %s --onnx-choose-parameters | FileCheck %s
// RUN: mtc-opt %s --onnx-choose-parameters="train=table,w freeze=w" | FileCheck %s --check-prefix=PATTERNS
// RUN: not mtc-opt %s --onnx-choose-parameters="train=absent" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: --train absent: no initializer matches

// CHECK: onnx.initializer "w" {reason = "a floating-point initializer", role = "parameter"}
// CHECK: onnx.initializer "eps" {reason = "a scalar", role = "constant", sample = dense<{{.*}}> : tensor<f32>}
// CHECK: onnx.initializer "mean" {reason = "running statistics of BatchNormalization", role = "state"}
// CHECK: onnx.initializer "positions" {reason = "integers are not trained", role = "constant"}
// CHECK-NOT: onnx.initializer "table"
// CHECK: onnx.constant
// A pattern that matches a Constant node turns its value into an initializer, after the existing ones.
// PATTERNS: onnx.initializer "w" {reason = "--freeze w", role = "frozen"}
// PATTERNS: onnx.initializer "positions"
// PATTERNS: %[[T:.*]] = onnx.initializer "table" {module_images = [], onnx.index = 0 : i64, reason = "--train table", role = "parameter", sample = {{.*}}} : tensor<3xf32>
// PATTERNS-NOT: onnx.constant
// PATTERNS: "Mul" version 14(%{{.*}}, %[[T]])
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %w = onnx.initializer "w" : tensor<3xf32>
  %e = onnx.initializer "eps" {sample = dense<1.0e-5> : tensor<f32>} : tensor<f32>
  %m = onnx.initializer "mean" : tensor<3xf32>
  %p = onnx.initializer "positions" : tensor<3xi64>
  %t = onnx.constant dense<[1.0, 2.5, 4.0]> : tensor<3xf32> {onnx.index = 0 : i64, onnx.results = ["table"]} -> tensor<3xf32>
  %0 = onnx.node "Mul" version 14 (%x, %t) {} {onnx.index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node "Add" version 14 (%0, %e) {} {onnx.index = 2 : i64} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = onnx.node "BatchNormalization" version 15 (%1, %w, %w, %m, %m) {} {onnx.index = 3 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.return %2 : tensor<2x3xf32>
}

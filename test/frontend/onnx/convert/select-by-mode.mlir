// RUN: mtc-opt %s --convert-onnx-to-mtc | FileCheck %s

// The values of training and of inference are selected, and a batch norm that only inference computes updates no state, even in training form.

// CHECK-LABEL: func.func @forward
// CHECK-NOT: mtc.write
// CHECK: mtc.select_by_mode training %{{.*}} inference %{{.*}} : tensor<2x3xf32>
// CHECK-NOT: mtc.write
onnx.graph @main(%x: tensor<2x3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %m = onnx.initializer "m" {role = "state"} : tensor<3xf32>
  %v = onnx.initializer "v" {role = "state"} : tensor<3xf32>
  %t = onnx.node "Neg" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = onnx.node "BatchNormalization" version 15 (%x, %g, %b, %m, %v) {training_mode = 1 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = onnx.node domain "mtc" "SelectByMode" version 1 (%t, %e) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.return %y : tensor<2x3xf32>
}

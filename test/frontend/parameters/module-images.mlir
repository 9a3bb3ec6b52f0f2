// How the module stores what the exporter named: a matrix that products multiply by is its transpose, a vector is the same; of others,
// and without a name, nothing is known. Names of the module's own need no image.
// RUN: mtc-opt %s --onnx-choose-parameters | FileCheck %s

// CHECK: onnx.initializer "fc.weight" {reason
// CHECK: onnx.initializer "onnx::MatMul_1" {module_images = [#mtc.tensor_image<"head.weight", shape = [4, 3], parts = [<variable = 0, image = 0, extents = [4, 3], variable_strides = [1, 4], image_strides = [3, 1]>]>], module_name = "head.weight"
// CHECK: onnx.initializer "onnx::Add_2" {module_images = [], reason
// CHECK: onnx.initializer "given" {module_images = [#mtc.tensor_image<"named", shape = [3]>], reason
onnx.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x4xf32>) {
  %w = onnx.initializer "fc.weight" : tensor<3x3xf32>
  %h = onnx.initializer "onnx::MatMul_1" : tensor<3x4xf32>
  %a = onnx.initializer "onnx::Add_2" : tensor<2x3xf32>
  %g = onnx.initializer "given" {module_images = [#mtc.tensor_image<"named", shape = [3]>]} : tensor<3xf32>
  %0 = onnx.node "MatMul" version 13 (%x, %w) {} {onnx.index = 0 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node "Add" version 14 (%0, %a) {} {onnx.index = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = onnx.node "Add" version 14 (%1, %g) {} {onnx.index = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = onnx.node "MatMul" version 13 (%2, %h) {} {onnx.index = 3 : i64, onnx.module = "head"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  onnx.return %3 : tensor<2x4xf32>
}

// Values that PyTorch's newer exporter folded are parameters if they have two axes, unless they are the initial state of a recurrent layer.
// RUN: mtc-opt %s --onnx-choose-parameters | FileCheck %s

// CHECK-DAG: onnx.initializer "val_1" {module_images = [], reason = "a weight that the exporter transposed (val_N of two or more dimensions)", role = "parameter"}
// CHECK-DAG: onnx.initializer "val_2" {reason = "the initial state of a recurrent layer", role = "constant"
// CHECK-DAG: onnx.initializer "val_3" {module_images = [], reason = "a weight that the exporter transposed (val_N of two or more dimensions)", role = "parameter"}
onnx.graph @main(%x: tensor<5x2x3xf32>) -> (tensor<*xindex>) attributes {onnx.producer = "pytorch", onnx.signature = ["l.w"]} {
  %w = onnx.initializer "val_1" : tensor<1x12x3xf32>
  %h = onnx.initializer "val_2" : tensor<1x2x4xf32>
  %r = onnx.initializer "val_3" : tensor<1x12x4xf32>
  %none = onnx.none
  %y = onnx.node "GRU" version 22 (%x, %w, %r, %none, %none, %h) {hidden_size = 4 : si64} {onnx.index = 0 : i64}
      : (tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, tensor<1x2x4xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

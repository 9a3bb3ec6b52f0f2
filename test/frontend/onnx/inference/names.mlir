// A problem is reported with the node's name in the model.
// RUN: not mtc-opt %s --onnx-infer-and-fold 2>&1 | FileCheck %s

// CHECK: error: loc("/h.0/attn/Gather"): Gather version 13: attribute axis = 5, expected -3..2
// CHECK: error: {{.*}}operator Frobnicate version 17 is unknown; 2 nodes use it: "first", "second"
onnx.graph @main(%x: tensor<2x3x4xf32>, %i: tensor<i64>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %y = onnx.node "Gather" version 13 (%x, %i) {axis = 5 : si64} : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<*xindex> loc("/h.0/attn/Gather")
  %a = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2x3x4xf32>) -> tensor<*xindex> loc("first")
  %b = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2x3x4xf32>) -> tensor<*xindex> loc("second")
  onnx.return %y, %a, %b : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

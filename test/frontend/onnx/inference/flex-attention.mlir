// FlexAttention becomes ai.onnx nodes around its subgraphs.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @plain
// CHECK: %[[Q:.*]] = onnx.node "Mul" version 13(%{{.*}}, %{{.*}})
// CHECK: %[[K:.*]] = onnx.node "Transpose" version 13(%{{.*}}) {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[G:.*]] = onnx.node "Reshape" version 13(%[[Q]], %{{.*}}) {{.*}} -> tensor<2x2x12x16xf32>
// CHECK: %[[S:.*]] = onnx.node "MatMul" version 13(%[[G]], %[[K]]) {{.*}} -> tensor<2x2x12x5xf32>
// CHECK: %[[R:.*]] = onnx.node "Reshape" version 13(%[[S]], %{{.*}}) {{.*}} -> tensor<2x6x4x5xf32>
// CHECK: %[[W:.*]] = onnx.node "Softmax" version 13(%[[R]]) {axis = 3 : si64}
// CHECK: %[[H:.*]] = onnx.node "Reshape" version 13(%[[W]], %{{.*}}) {{.*}} -> tensor<2x2x12x5xf32>
// CHECK: %[[Y:.*]] = onnx.node "MatMul" version 13(%[[H]], %{{.*}}) {{.*}} -> tensor<2x2x12x8xf32>
// CHECK: onnx.node "Reshape" version 13(%[[Y]], %{{.*}}) {{.*}} -> tensor<2x6x4x8xf32>
onnx.graph @plain(%q: tensor<2x6x4x16xf32>, %k: tensor<2x2x5x16xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<*xindex> {
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %k, %v) {} : (tensor<2x6x4x16xf32>, tensor<2x2x5x16xf32>, tensor<2x2x5x8xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// The subgraphs compute in the type of the softmax, here f32, and may use values of the graph.

// CHECK-LABEL: onnx.graph @modified
// CHECK: %[[S:.*]] = onnx.node "Cast" version 13(%{{.*}}) {to = 1 : si64} : (tensor<1x2x3x3xf16>) -> tensor<1x2x3x3xf32>
// CHECK: %[[B:.*]] = onnx.node "Add" version 14(%[[S]], %[[BIAS:.*]]) {}
// CHECK: %[[W:.*]] = onnx.node "Softmax" version 13(%[[B]])
// CHECK: %[[P:.*]] = onnx.node "Mul" version 14(%[[W]], %[[BIAS]]) {}
// CHECK: onnx.node "Cast" version 13(%[[P]]) {to = 10 : si64}
onnx.graph @modified(%q: tensor<1x2x3x4xf16>, %bias: tensor<2x3x3xf32>) -> tensor<*xindex> {
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %q, %q) {scale = 0.5 : f32} graphs ["prob_mod", "score_mod"] {
  ^bb0(%probs: tensor<*xindex>):
    %r = onnx.node "Mul" version 14 (%probs, %bias) {} : (tensor<*xindex>, tensor<2x3x3xf32>) -> tensor<*xindex>
    onnx.return %r : tensor<*xindex>
  }, {
  ^bb0(%scores: tensor<*xindex>):
    %r = onnx.node "Add" version 14 (%scores, %bias) {} : (tensor<*xindex>, tensor<2x3x3xf32>) -> tensor<*xindex>
    onnx.return %r : tensor<*xindex>
  } : (tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

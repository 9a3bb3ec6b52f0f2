// FlexAttention with a mask as its score_mod is fused like other forms of attention.
// RUN: mtc-opt %s --onnx-infer-and-fold --convert-onnx-to-mtc --mtc-recognize-attention | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: %{{.*}}, %{{.*}} = mtc.attention %{{.*}}, %[[K:.*]], %[[K]] mask %{{.*}} scale 2.500000e-01 : (tensor<2x2x16x16xf32>, tensor<2x2x5x16xf32>,
// CHECK-NOT: mtc.exp
onnx.graph @main(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x5x16xf32>) -> tensor<*xindex> {
  %mask = onnx.constant dense<[[true, true, true, true, false]]> : tensor<1x5xi1> -> tensor<1x5xi1>
  %inf = onnx.constant dense<0xFF800000> : tensor<f32> -> tensor<f32>
  %y = onnx.node domain "ai.onnx.preview" "FlexAttention" version 1 (%q, %k, %k) {} graphs ["score_mod"] {
  ^bb0(%scores: tensor<*xindex>):
    %r = onnx.node "Where" version 16 (%mask, %scores, %inf) {} : (tensor<1x5xi1>, tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
    onnx.return %r : tensor<*xindex>
  } : (tensor<2x4x8x16xf32>, tensor<2x2x5x16xf32>, tensor<2x2x5x16xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Type inference of attention and rotary embedding.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// The queries are grouped, and there is a mask.
// CHECK-LABEL: onnx.graph @heads
// CHECK: onnx.node "Attention"
// CHECK-SAME: -> tensor<2x4x8x16xf32>{{$}}
onnx.graph @heads(%a: tensor<2x4x8x16xf32>, %b: tensor<2x2x8x16xf32>, %c: tensor<2x2x8x16xf32>, %d: tensor<8x8xi1>) -> tensor<*xindex> {
  %r = onnx.node "Attention" version 23 (%a, %b, %c, %d) {is_causal = 0 : si64} : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<8x8xi1>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The heads are part of the last axis.
// CHECK-LABEL: onnx.graph @packed
// CHECK: onnx.node "Attention"
// CHECK-SAME: -> tensor<2x8x64xf32>{{$}}
onnx.graph @packed(%a: tensor<2x8x64xf32>, %b: tensor<2x8x32xf32>, %c: tensor<2x8x32xf32>) -> tensor<*xindex> {
  %r = onnx.node "Attention" version 23 (%a, %b, %c) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x32xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @past
// CHECK: onnx.node "Attention"
// CHECK-SAME: -> (tensor<2x4x8x16xf32>, tensor<2x2x13x16xf32>, tensor<2x2x13x16xf32>, tensor<2x4x8x13xf32>){{$}}
onnx.graph @past(%a: tensor<2x4x8x16xf32>, %b: tensor<2x2x8x16xf32>, %c: tensor<2x2x8x16xf32>, %e: tensor<2x2x5x16xf32>, %f: tensor<2x2x5x16xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %d = onnx.none
  %r0, %r1, %r2, %r3 = onnx.node "Attention" version 23 (%a, %b, %c, %d, %e, %f) {} : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, none, tensor<2x2x5x16xf32>, tensor<2x2x5x16xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2, %r3 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @rotary
// CHECK: onnx.node "RotaryEmbedding"
// CHECK-SAME: -> tensor<2x4x8x16xf32>{{$}}
onnx.graph @rotary(%a: tensor<2x4x8x16xf32>, %b: tensor<2x8x8xf32>, %c: tensor<2x8x8xf32>) -> tensor<*xindex> {
  %r = onnx.node "RotaryEmbedding" version 23 (%a, %b, %c) {} : (tensor<2x4x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Normalization.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @batchNorm
// CHECK: onnx.node "BatchNormalization"
// CHECK-SAME: -> (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>){{$}}
onnx.graph @batchNorm(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>, %d: tensor<6xf32>, %e: tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1, %r2 = onnx.node "BatchNormalization" version 15 (%a, %b, %c, %d, %e) {training_mode = 1 : si64} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// Before version 14, the results are the statistics of the batch.
// CHECK-LABEL: onnx.graph @batchNormOld
// CHECK: onnx.node "BatchNormalization"
// CHECK-SAME: -> (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>){{$}}
onnx.graph @batchNormOld(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>, %d: tensor<6xf32>, %e: tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1, %r2, %r3, %r4 = onnx.node "BatchNormalization" version 9 (%a, %b, %c, %d, %e) {} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2, %r3, %r4 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @layerNorm
// CHECK: onnx.node "LayerNormalization"
// CHECK-SAME: -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>){{$}}
onnx.graph @layerNorm(%a: tensor<2x3x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1, %r2 = onnx.node "LayerNormalization" version 17 (%a, %b, %c) {axis = -1 : si64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// Statistics have the type of stash_type.
// CHECK-LABEL: onnx.graph @layerNormHalf
// CHECK: onnx.node "LayerNormalization"
// CHECK-SAME: -> (tensor<2x3x4xf16>, tensor<2x1x1xf32>){{$}}
onnx.graph @layerNormHalf(%a: tensor<2x3x4xf16>, %b: tensor<3x4xf16>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "LayerNormalization" version 17 (%a, %b) {axis = 1 : si64} : (tensor<2x3x4xf16>, tensor<3x4xf16>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @rmsNorm
// CHECK: onnx.node "RMSNormalization"
// CHECK-SAME: -> tensor<2x4xf32>{{$}}
onnx.graph @rmsNorm(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<*xindex> {
  %r = onnx.node "RMSNormalization" version 23 (%a, %b) {} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// From version 21 on, one scale per channel.
// CHECK-LABEL: onnx.graph @groupNorm
// CHECK: onnx.node "GroupNormalization"
// CHECK-SAME: -> tensor<2x6x4x4xf32>{{$}}
onnx.graph @groupNorm(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> tensor<*xindex> {
  %r = onnx.node "GroupNormalization" version 21 (%a, %b, %c) {num_groups = 3 : si64} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Before, one scale per group.
// CHECK-LABEL: onnx.graph @groupNormOld
// CHECK: onnx.node "GroupNormalization"
// CHECK-SAME: -> tensor<2x6x4x4xf32>{{$}}
onnx.graph @groupNormOld(%a: tensor<2x6x4x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) -> tensor<*xindex> {
  %r = onnx.node "GroupNormalization" version 18 (%a, %b, %c) {num_groups = 3 : si64} : (tensor<2x6x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @instanceNorm
// CHECK: onnx.node "InstanceNormalization"
// CHECK-SAME: -> tensor<2x6x4x4xf32>{{$}}
onnx.graph @instanceNorm(%a: tensor<2x6x4x4xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> tensor<*xindex> {
  %r = onnx.node "InstanceNormalization" version 6 (%a, %b, %c) {} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

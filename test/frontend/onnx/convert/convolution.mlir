// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// Channels become the last axis of the convolution. The bias is added to the result in the layout of the model.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[L:.*]] = mtc.transpose %[[X]] [0, 2, 3, 1]
// CHECK: %[[C:.*]] = mtc.convolve %[[L]], %[[W]] before [1, 1] strides [2, 2] dilations [1, 1] : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32>
// CHECK: %[[Y:.*]] = mtc.transpose %[[C]] [0, 3, 1, 2]
// CHECK: %[[BB:.*]] = mtc.broadcast %[[B]] axes [0, 2, 3] : tensor<4xf32> -> tensor<2x4x4x4xf32>
// CHECK: mtc.add %[[Y]], %[[BB]]
onnx.graph @main(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<2x4x4x4xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
  onnx.return %y : tensor<2x4x4x4xf32>
}

// -----

// CHECK: mtc.convolve %{{.*}}, %{{.*}} groups 2 before [0] strides [1] dilations [1] : (tensor<2x8x4xf32>, tensor<6x2x3xf32>) -> tensor<2x6x6xf32>
onnx.graph @main(%x: tensor<2x4x8xf32>, %w: tensor<6x2x3xf32>) -> tensor<2x6x6xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w) {group = 2 : si64} : (tensor<2x4x8xf32>, tensor<6x2x3xf32>) -> tensor<2x6x6xf32>
  onnx.return %y : tensor<2x6x6xf32>
}

// -----

// CHECK: mtc.convolve %{{.*}}, %{{.*}} groups 4 before [1] strides [1] dilations [1] : (tensor<2x8x4xf32>, tensor<4x1x3xf32>) -> tensor<2x8x4xf32>
onnx.graph @main(%x: tensor<2x4x8xf32>, %w: tensor<4x1x3xf32>) -> tensor<2x4x8xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w) {group = 4 : si64, auto_pad = "SAME_UPPER"} : (tensor<2x4x8xf32>, tensor<4x1x3xf32>) -> tensor<2x4x8xf32>
  onnx.return %y : tensor<2x4x8xf32>
}

// -----

// Each element adds a window of weights to the result.

// CHECK: mtc.transposed_convolve %{{.*}}, %{{.*}} before [1] strides [2] dilations [1] : (tensor<2x5x3xf32>, tensor<3x4x3xf32>) -> tensor<2x10x4xf32>
onnx.graph @main(%x: tensor<2x3x5xf32>, %w: tensor<3x4x3xf32>) -> tensor<2x4x10xf32> {
  %y = onnx.node "ConvTranspose" version 11 (%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<2x3x5xf32>, tensor<3x4x3xf32>) -> tensor<2x4x10xf32>
  onnx.return %y : tensor<2x4x10xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x1073741824xf32>, %w: tensor<1x1x1048576xf32>) -> tensor<1x1x1072693249xf32> {
  // expected-error @below {{Conv version 11: needs values of shape [1, 1072693249, 1, 1048576], more elements than can be addressed}}
  %y = onnx.node "Conv" version 11 (%x, %w) {} : (tensor<1x1x1073741824xf32>, tensor<1x1x1048576xf32>) -> tensor<1x1x1072693249xf32>
  onnx.return %y : tensor<1x1x1072693249xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x1073741824xf32>, %w: tensor<1x1x1048576xf32>) -> tensor<1x1x1074790399xf32> {
  // expected-error @below {{ConvTranspose version 11: needs values of shape [1, 1073741824, 1, 1048576], more elements than can be addressed}}
  %y = onnx.node "ConvTranspose" version 11 (%x, %w) {} : (tensor<1x1x1073741824xf32>, tensor<1x1x1048576xf32>) -> tensor<1x1x1074790399xf32>
  onnx.return %y : tensor<1x1x1074790399xf32>
}

// -----

// A bias of zeros is omitted, whatever its shape: PyTorch's exporter writes [channels, 2] for Conv3d.

// CHECK: %[[C:.*]] = mtc.convolve
// CHECK-NEXT: %[[Y:.*]] = mtc.transpose %[[C]]
// CHECK-NEXT: return %[[Y]]
onnx.graph @main(%x: tensor<2x4x3x3x8xf32>, %w: tensor<6x4x1x1x3xf32>) -> tensor<2x6x3x3x6xf32> {
  %b = onnx.constant dense<0.0> : tensor<6x2xf32> -> tensor<6x2xf32>
  %y = onnx.node "Conv" version 11 (%x, %w, %b) {} : (tensor<2x4x3x3x8xf32>, tensor<6x4x1x1x3xf32>, tensor<6x2xf32>) -> tensor<2x6x3x3x6xf32>
  onnx.return %y : tensor<2x6x3x3x6xf32>
}

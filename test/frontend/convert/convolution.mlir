// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// A contraction of windows with the weights, which each sample of the batch has; the result needs no transposition.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[P:.*]] = mtc.pad %{{.*}} low [0, 0, 0, 1, 1] high [0, 0, 0, 0, 0] interior [0, 0, 0, 0, 0] value 0.000000e+00 : f32 : tensor<2x1x3x8x8xf32> -> tensor<2x1x3x9x9xf32>
// CHECK: %[[K:.*]] = mtc.windows %[[P]] axes [3, 4] strides [2, 2] dilations [1, 1] : tensor<2x1x3x9x9xf32> -> tensor<2x1x3x4x4x3x3xf32>
// CHECK: %[[R:.*]] = mtc.reshape %[[W]] : tensor<4x3x3x3xf32> -> tensor<1x4x3x3x3xf32>
// CHECK: %[[A:.*]] = mtc.broadcast %[[R]] axes [0] : tensor<1x4x3x3x3xf32> -> tensor<2x1x4x3x3x3xf32>
// CHECK: %[[C:.*]] = mtc.contract %[[A]], %[[K]] batch [0, 1] x [0, 1] over [3, 4, 5] x [2, 5, 6]
// CHECK: %[[Y:.*]] = mtc.reshape %[[C]] : tensor<2x1x4x4x4xf32> -> tensor<2x4x4x4xf32>
// CHECK: %[[BB:.*]] = mtc.broadcast %[[B]] axes [0, 2, 3] : tensor<4xf32> -> tensor<2x4x4x4xf32>
// CHECK: mtc.add %[[Y]], %[[BB]]
onnx.graph @main(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<2x4x4x4xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>
  onnx.return %y : tensor<2x4x4x4xf32>
}

// -----

// Groups are batch axes.

// CHECK: %[[W:.*]] = mtc.broadcast %{{.*}} axes [0] : tensor<2x3x2x3xf32> -> tensor<2x2x3x2x3xf32>
// CHECK: mtc.contract %[[W]], %{{.*}} batch [0, 1] x [0, 1] over [3, 4] x [2, 4] : tensor<2x2x3x2x3xf32>, tensor<2x2x2x6x3xf32> -> tensor<2x2x3x6xf32>
onnx.graph @main(%x: tensor<2x4x8xf32>, %w: tensor<6x2x3xf32>) -> tensor<2x6x6xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w) {group = 2 : si64} : (tensor<2x4x8xf32>, tensor<6x2x3xf32>) -> tensor<2x6x6xf32>
  onnx.return %y : tensor<2x6x6xf32>
}

// -----

// A channel a group: products are summed over the taps, and no windows are written.

// CHECK: mtc.pad %{{.*}} low [0, 0, 0, 1] high [0, 0, 0, 1]
// CHECK: %[[W:.*]] = mtc.broadcast %{{.*}} axes [3] : tensor<2x4x1x3xf32> -> tensor<2x4x1x8x3xf32>
// CHECK: %[[X:.*]] = mtc.broadcast %{{.*}} axes [2] : tensor<2x4x8x3xf32> -> tensor<2x4x1x8x3xf32>
// CHECK: %[[P:.*]] = mtc.mul %[[W]], %[[X]]
// CHECK: mtc.reduce add %[[P]] axes [4] : tensor<2x4x1x8x3xf32> -> tensor<2x4x1x8xf32>
onnx.graph @main(%x: tensor<2x4x8xf32>, %w: tensor<4x1x3xf32>) -> tensor<2x4x8xf32> {
  %y = onnx.node "Conv" version 11 (%x, %w) {group = 4 : si64, auto_pad = "SAME_UPPER"} : (tensor<2x4x8xf32>, tensor<4x1x3xf32>) -> tensor<2x4x8xf32>
  onnx.return %y : tensor<2x4x8xf32>
}

// -----

// Each element adds a window of weights to the result.

// CHECK: %[[C:.*]] = mtc.contract %{{.*}}, %{{.*}} batch [0, 1] x [0, 1] over [2] x [2] : tensor<2x1x3x4x3xf32>, tensor<2x1x3x5xf32> -> tensor<2x1x4x3x5xf32>
// CHECK: %[[T:.*]] = mtc.transpose %[[C]] [0, 1, 2, 4, 3]
// CHECK: mtc.overlap_add %[[T]] axes [3] offsets [1] strides [2] dilations [1] : tensor<2x1x4x5x3xf32> -> tensor<2x1x4x10xf32>
onnx.graph @main(%x: tensor<2x3x5xf32>, %w: tensor<3x4x3xf32>) -> tensor<2x4x10xf32> {
  %y = onnx.node "ConvTranspose" version 11 (%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>, output_padding = array<i64: 1>} : (tensor<2x3x5xf32>, tensor<3x4x3xf32>) -> tensor<2x4x10xf32>
  onnx.return %y : tensor<2x4x10xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x1073741824xf32>, %w: tensor<1x1x1048576xf32>) -> tensor<1x1x1072693249xf32> {
  // expected-error @below {{Conv version 11: computes with values of shape [1, 1, 1, 1072693249, 1048576], which are more than can be addressed}}
  %y = onnx.node "Conv" version 11 (%x, %w) {} : (tensor<1x1x1073741824xf32>, tensor<1x1x1048576xf32>) -> tensor<1x1x1072693249xf32>
  onnx.return %y : tensor<1x1x1072693249xf32>
}

// -----

onnx.graph @main(%x: tensor<16777216x1x1xf32>, %w: tensor<16777216x1x2xf32>) -> tensor<16777216x16777216x1xf32> {
  // expected-error @below {{Conv version 11: computes with values of shape [16777216, 1, 16777216, 1, 2], which are more than can be addressed}}
  %y = onnx.node "Conv" version 11 (%x, %w) {pads = array<i64: 0, 1>} : (tensor<16777216x1x1xf32>, tensor<16777216x1x2xf32>) -> tensor<16777216x16777216x1xf32>
  onnx.return %y : tensor<16777216x16777216x1xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x1073741824xf32>, %w: tensor<1x1x1048576xf32>) -> tensor<1x1x1074790399xf32> {
  // expected-error @below {{ConvTranspose version 11: computes with values of shape [1, 1, 1073741824, 1048576], which are more than can be addressed}}
  %y = onnx.node "ConvTranspose" version 11 (%x, %w) {} : (tensor<1x1x1073741824xf32>, tensor<1x1x1048576xf32>) -> tensor<1x1x1074790399xf32>
  onnx.return %y : tensor<1x1x1074790399xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: %[[MAX:.*]] = mtc.reduce max %[[X]] axes [1]
// CHECK: %[[M:.*]] = mtc.detach %[[MAX]]
// CHECK: %[[MB:.*]] = mtc.broadcast %[[M]] axes [1]
// CHECK: %[[D:.*]] = mtc.sub %[[X]], %[[MB]]
// CHECK: %[[E:.*]] = mtc.exp %[[D]]
// CHECK: %[[S:.*]] = mtc.reduce add %[[E]] axes [1]
// CHECK: %[[SB:.*]] = mtc.broadcast %[[S]] axes [1]
// CHECK: mtc.div %[[E]], %[[SB]]
onnx.graph @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = onnx.node "Softmax" version 13 (%x) {axis = 1 : si64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  onnx.return %y : tensor<2x3x4xf32>
}

// -----

// Up to version 12 the axes from `axis` on are one row.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x5xf32>)
// CHECK: %[[R:.*]] = mtc.reshape %[[X]] : tensor<2x3x5xf32> -> tensor<2x15xf32>
// CHECK: mtc.reduce max %[[R]] axes [1]
// CHECK: mtc.log
// CHECK: mtc.reshape %{{.*}} : tensor<2x15xf32> -> tensor<2x3x5xf32>
onnx.graph @main(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y = onnx.node "LogSoftmax" version 11 (%x) {} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  onnx.return %y : tensor<2x3x5xf32>
}

// -----

// A scalar is a row of one element.

// CHECK: func.func @forward(%[[X:.*]]: tensor<f32>)
// CHECK: %[[R:.*]] = mtc.reshape %[[X]] : tensor<f32> -> tensor<1x1xf32>
// CHECK: mtc.reduce max %[[R]] axes [1]
// CHECK: mtc.reshape %{{.*}} : tensor<1x1xf32> -> tensor<f32>
onnx.graph @main(%x: tensor<f32>) -> tensor<f32> {
  %y = onnx.node "Softmax" version 13 (%x) {} : (tensor<f32>) -> tensor<f32>
  onnx.return %y : tensor<f32>
}

// -----

// 16-bit floats are converted to f32, for the range of the exponential and the accuracy of the sum.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3xbf16>)
// CHECK: %[[W:.*]] = mtc.cast %[[X]] : tensor<2x3xbf16> -> tensor<2x3xf32>
// CHECK: mtc.reduce max %[[W]]
// CHECK: mtc.cast %{{.*}} : tensor<2x3xf32> -> tensor<2x3xbf16>
onnx.graph @main(%x: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  %y = onnx.node "Softmax" version 13 (%x) {} : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  onnx.return %y : tensor<2x3xbf16>
}

// -----

// Fully masked rows are zero, without NaN in results and gradients.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[MAX:.*]] = mtc.reduce max %[[X]] axes [1]
// CHECK: %[[M:.*]] = mtc.detach %[[MAX]]
// CHECK: %[[INF:.*]] = mtc.constant dense<0xFF800000>
// CHECK: %[[MASKED:.*]] = mtc.compare eq %[[M]], %[[INF]]
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.000000e+00>
// CHECK: %[[SHIFT:.*]] = mtc.select %[[MASKED]], %[[ZERO]], %[[M]]
// CHECK: %[[E:.*]] = mtc.exp
// CHECK: %[[S:.*]] = mtc.reduce add %[[E]] axes [1]
// CHECK: mtc.select %[[MASKED]], %{{.*}}, %[[S]]
// CHECK: return
onnx.graph @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = onnx.node domain "mtc" "SafeSoftmax" version 1 (%x) {axis = 1 : si64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.return %y : tensor<4x8xf32>
}

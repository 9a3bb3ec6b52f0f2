// Recurrent layers: one contraction for the inputs of all steps, then `mtc.recurrence`. Other cells are unrolled.
// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// Any number of steps is one operation.
// CHECK: func.func @forward(%[[X:.*]]: tensor<4096x2x3xf32>
// CHECK: mtc.contract {{.*}} : tensor<8192x3xf32>, tensor<16x3xf32> -> tensor<8192x16xf32>
// CHECK: %{{.*}}, %[[H:.*]], %[[C:.*]] = mtc.recurrence lstm %{{.*}}, %{{.*}} from %{{.*}} cell %{{.*}} : (
// CHECK-NOT: mtc.recurrence
onnx.graph @main(%x: tensor<4096x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %b: tensor<1x32xf32>) -> (tensor<4096x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  %y, %h, %c = onnx.node "LSTM" version 14 (%x, %w, %r, %b) {hidden_size = 4 : si64} : (tensor<4096x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>) -> (tensor<4096x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  onnx.return %y, %h, %c : tensor<4096x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

// The reverse direction reverses no tensor; its last step is the first.
// CHECK: func.func @forward
// CHECK-NOT: mtc.reverse
// CHECK: mtc.recurrence gru_reset_after {{.*}} bias %{{[^ ]*}} : (
// CHECK: %{{.*}}, %[[H:.*]], %{{.*}} = mtc.recurrence gru_reset_after {{.*}} bias %{{[^ ]*}} reversed : (
// CHECK: mtc.slice %[[H]] offsets [0, 0, 0]
onnx.graph @main(%x: tensor<5x2x3xf32>, %w: tensor<2x12x3xf32>, %r: tensor<2x12x4xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>) {
  %y, %h = onnx.node "GRU" version 14 (%x, %w, %r) {hidden_size = 4 : si64, direction = "bidirectional", linear_before_reset = 1 : si64} : (tensor<5x2x3xf32>, tensor<2x12x3xf32>, tensor<2x12x4xf32>) -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>)
  onnx.return %y, %h : tensor<5x2x2x4xf32>, tensor<2x2x4xf32>
}

// -----

// By default, a GRU multiplies the reset state with the weights.
// CHECK: func.func @forward
// CHECK-COUNT-1: mtc.contract
// CHECK-NOT: mtc.contract
// CHECK: mtc.recurrence gru %{{.*}}, %{{.*}} from %{{[^ ]*}} : (
onnx.graph @main(%x: tensor<4096x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %b: tensor<1x24xf32>) -> tensor<4096x1x2x4xf32> {
  %y = onnx.node "GRU" version 14 (%x, %w, %r, %b) {hidden_size = 4 : si64} : (tensor<4096x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>) -> tensor<4096x1x2x4xf32>
  onnx.return %y : tensor<4096x1x2x4xf32>
}

// -----

// CHECK: func.func @forward
// CHECK: mtc.recurrence relu
onnx.graph @main(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<5x1x2x4xf32> {
  %y = onnx.node "RNN" version 14 (%x, %w, %r) {hidden_size = 4 : si64, activations = ["relu"]} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<5x1x2x4xf32>
  onnx.return %y : tensor<5x1x2x4xf32>
}

// -----

// Gates with clipping are unrolled.
// CHECK: func.func @forward
// CHECK-NOT: mtc.recurrence
// CHECK-COUNT-3: mtc.contract
onnx.graph @main(%x: tensor<2x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<2x1x2x4xf32> {
  %y = onnx.node "RNN" version 14 (%x, %w, %r) {hidden_size = 4 : si64, clip = 1.0 : f32} : (tensor<2x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<2x1x2x4xf32>
  onnx.return %y : tensor<2x1x2x4xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// Two query heads share a head of keys and values, which is not repeated.

// CHECK: func.func @forward(%[[Q:.*]]: tensor<2x4x5x8xf32>, %[[K:.*]]: tensor<2x2x6x8xf32>, %[[V:.*]]: tensor<2x2x6x3xf32>)
// CHECK: %[[G:.*]] = mtc.reshape %[[Q]] : tensor<2x4x5x8xf32> -> tensor<2x2x2x5x8xf32>
// CHECK: %[[P:.*]] = mtc.contract %[[G]], %[[K]] batch [0, 1] x [0, 1] over [4] x [3] : {{.*}} -> tensor<2x2x2x5x6xf32>
// CHECK: mtc.reshape %[[P]] : tensor<2x2x2x5x6xf32> -> tensor<2x4x5x6xf32>
// CHECK: %[[ROW:.*]] = mtc.iota 0 : tensor<5x6xi64>
// CHECK: %[[COLUMN:.*]] = mtc.iota 1 : tensor<5x6xi64>
// CHECK: mtc.compare le %[[COLUMN]], %[[ROW]]
// CHECK: mtc.reduce max
// CHECK: %[[W:.*]] = mtc.reshape %{{.*}} : tensor<2x4x5x6xf32> -> tensor<2x2x2x5x6xf32>
// CHECK: %[[O:.*]] = mtc.contract %[[W]], %[[V]] batch [0, 1] x [0, 1] over [4] x [2]
// CHECK: mtc.reshape %[[O]] : tensor<2x2x2x5x3xf32> -> tensor<2x4x5x3xf32>
onnx.graph @main(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32> {
  %y = onnx.node "Attention" version 23 (%q, %k, %v) {is_causal = 1 : si64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  onnx.return %y : tensor<2x4x5x3xf32>
}

// -----

// Three axes are split into heads. A boolean mask selects, a shorter one leaves the rest out; the cap comes before it.

// CHECK: func.func @forward(%[[X:.*]]: tensor<1x4x6xf32>, %[[M:.*]]: tensor<4x3xi1>)
// CHECK: %[[S:.*]] = mtc.reshape %[[X]] : tensor<1x4x6xf32> -> tensor<1x4x2x3xf32>
// CHECK: mtc.transpose %[[S]] [0, 2, 1, 3]
// CHECK: mtc.tanh
// CHECK: %[[MASK:.*]] = mtc.pad %[[M]] low [0, 0] high [0, 1] interior [0, 0] value false
// CHECK: %[[B:.*]] = mtc.broadcast %[[MASK]] axes [0, 1]
// CHECK: mtc.select %[[B]]
// CHECK: mtc.transpose %{{.*}} [0, 2, 1, 3] : tensor<1x2x4x3xf32> -> tensor<1x4x2x3xf32>
// CHECK: mtc.reshape %{{.*}} -> tensor<1x4x6xf32>
onnx.graph @main(%x: tensor<1x4x6xf32>, %m: tensor<4x3xi1>) -> tensor<1x4x6xf32> {
  %y = onnx.node "Attention" version 24 (%x, %x, %x, %m) {q_num_heads = 2 : si64, kv_num_heads = 2 : si64, softcap = 2.0 : f32} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>, tensor<4x3xi1>) -> tensor<1x4x6xf32>
  onnx.return %y : tensor<1x4x6xf32>
}

// -----

// The first four of six elements rotate; angles are looked up by position.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x5x6xf32>, %[[C:.*]]: tensor<9x2xf32>, %[[S:.*]]: tensor<9x2xf32>, %[[I:.*]]: tensor<2x5xi64>)
// CHECK: mtc.slice %[[X]] offsets [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x3x5x6xf32> -> tensor<2x3x5x2xf32>
// CHECK: mtc.slice %[[X]] offsets [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<2x3x5x6xf32> -> tensor<2x3x5x2xf32>
// CHECK: %[[G:.*]] = mtc.gather %[[C]], %[[I]] axis 0 batch 0
// CHECK: mtc.broadcast %[[G]] axes [1] : tensor<2x5x2xf32> -> tensor<2x3x5x2xf32>
// CHECK: %[[R:.*]] = mtc.concatenate %{{.*}} axis 3 : (tensor<2x3x5x2xf32>, tensor<2x3x5x2xf32>)
// CHECK: %[[REST:.*]] = mtc.slice %[[X]] offsets [0, 0, 0, 4]
// CHECK: mtc.concatenate %[[R]], %[[REST]] axis 3
onnx.graph @main(%x: tensor<2x3x5x6xf32>, %c: tensor<9x2xf32>, %s: tensor<9x2xf32>, %i: tensor<2x5xi64>) -> tensor<2x3x5x6xf32> {
  %y = onnx.node "RotaryEmbedding" version 23 (%x, %c, %s, %i) {rotary_embedding_dim = 4 : si64} : (tensor<2x3x5x6xf32>, tensor<9x2xf32>, tensor<9x2xf32>, tensor<2x5xi64>) -> tensor<2x3x5x6xf32>
  onnx.return %y : tensor<2x3x5x6xf32>
}

// -----

onnx.graph @main(%x: tensor<2x3x5x6xf32>, %c: tensor<2x5x2xf32>) -> tensor<2x3x5x6xf32> {
  // expected-error @below {{RotaryEmbedding version 23: rotates 6 of 6 elements by 2 angles, expected an even number and half as many angles}}
  %y = onnx.node "RotaryEmbedding" version 23 (%x, %c, %c) {} : (tensor<2x3x5x6xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>) -> tensor<2x3x5x6xf32>
  onnx.return %y : tensor<2x3x5x6xf32>
}

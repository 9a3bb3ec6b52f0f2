// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mtc-opt %s --convert-onnx-to-mtc=attention-in-parts=true --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s --check-prefix=PARTS

// Two query heads share a head of keys and values, which is not repeated.

// CHECK: func.func @forward(%[[Q:.*]]: tensor<2x4x5x8xf32>, %[[K:.*]]: tensor<2x2x6x8xf32>, %[[V:.*]]: tensor<2x2x6x3xf32>)
// CHECK-NEXT: %[[O:.*]], %{{.*}} = mtc.attention %[[Q]], %[[K]], %[[V]] causal 0 scale 0.35355338
// CHECK-NEXT: return %[[O]]

// PARTS: func.func @forward(%[[Q:.*]]: tensor<2x4x5x8xf32>, %[[K:.*]]: tensor<2x2x6x8xf32>, %[[V:.*]]: tensor<2x2x6x3xf32>)
// PARTS: %[[G:.*]] = mtc.reshape %[[Q]] : tensor<2x4x5x8xf32> -> tensor<2x2x2x5x8xf32>
// PARTS: %[[P:.*]] = mtc.contract %[[G]], %[[K]] batch [0, 1] x [0, 1] over [4] x [3] : {{.*}} -> tensor<2x2x2x5x6xf32>
// PARTS: mtc.reshape %[[P]] : tensor<2x2x2x5x6xf32> -> tensor<2x4x5x6xf32>
// PARTS: %[[ROW:.*]] = mtc.iota 0 : tensor<5x6xi64>
// PARTS: %[[COLUMN:.*]] = mtc.iota 1 : tensor<5x6xi64>
// PARTS: mtc.compare le %[[COLUMN]], %[[ROW]]
// PARTS: mtc.reduce max
// PARTS: %[[W:.*]] = mtc.reshape %{{.*}} : tensor<2x4x5x6xf32> -> tensor<2x2x2x5x6xf32>
// PARTS: %[[O:.*]] = mtc.contract %[[W]], %[[V]] batch [0, 1] x [0, 1] over [4] x [2]
// PARTS: mtc.reshape %[[O]] : tensor<2x2x2x5x3xf32> -> tensor<2x4x5x3xf32>
onnx.graph @main(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32> {
  %y = onnx.node "Attention" version 23 (%q, %k, %v) {is_causal = 1 : si64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  onnx.return %y : tensor<2x4x5x3xf32>
}

// -----

// Heads are split and joined. Past keys come before the new ones, and the causal mask includes them.

// CHECK: func.func @forward(%[[X:.*]]: tensor<1x4x6xf32>, %[[PAST:.*]]: tensor<1x2x5x3xf32>)
// CHECK: %[[Q:.*]] = mtc.transpose %{{.*}} [0, 2, 1, 3] : tensor<1x4x2x3xf32> -> tensor<1x2x4x3xf32>
// CHECK: %[[K:.*]] = mtc.concatenate %[[PAST]], %{{.*}} axis 2
// CHECK: %[[V:.*]] = mtc.concatenate %[[PAST]], %{{.*}} axis 2
// CHECK: %[[O:.*]], %{{.*}} = mtc.attention %[[Q]], %[[K]], %[[V]] causal 5 scale 1.000000e+00
// CHECK: mtc.transpose %[[O]] [0, 2, 1, 3] : tensor<1x2x4x3xf32> -> tensor<1x4x2x3xf32>
// CHECK: return %{{.*}}, %[[K]], %[[V]]
// PARTS: func.func @forward
// PARTS-NOT: mtc.attention
onnx.graph @main(%x: tensor<1x4x6xf32>, %p: tensor<1x2x5x3xf32>) -> (tensor<1x4x6xf32>, tensor<1x2x9x3xf32>, tensor<1x2x9x3xf32>) {
  %none = onnx.none
  %y, %k, %v = onnx.node "Attention" version 23 (%x, %x, %x, %none, %p, %p) {q_num_heads = 2 : si64, kv_num_heads = 2 : si64, is_causal = 1 : si64, scale = 1.0 : f32} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>, none, tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) -> (tensor<1x4x6xf32>, tensor<1x2x9x3xf32>, tensor<1x2x9x3xf32>)
  onnx.return %y, %k, %v : tensor<1x4x6xf32>, tensor<1x2x9x3xf32>, tensor<1x2x9x3xf32>
}

// -----

// A boolean mask selects keys; a shorter one excludes the rest, and so does the number of keys of an entry.

// CHECK: func.func @forward(%[[Q:.*]]: tensor<2x4x5x8xf32>, %[[M:.*]]: tensor<5x3xi1>, %[[L:.*]]: tensor<2xi64>)
// CHECK: %[[P:.*]] = mtc.pad %[[M]] low [0, 0] high [0, 2] interior [0, 0] value false
// CHECK: mtc.compare lt
// CHECK: mtc.broadcast %[[P]] axes [0, 1] : tensor<5x5xi1> -> tensor<2x1x5x5xi1>
// CHECK: %[[A:.*]] = mtc.and %{{.*}}, %{{.*}} : tensor<2x1x5x5xi1>
// CHECK: mtc.attention %[[Q]], %[[Q]], %[[Q]] mask %[[A]] scale 0.35355338
// PARTS: func.func @forward
// PARTS-NOT: mtc.attention
onnx.graph @main(%q: tensor<2x4x5x8xf32>, %m: tensor<5x3xi1>, %l: tensor<2xi64>) -> tensor<2x4x5x8xf32> {
  %none = onnx.none
  %y = onnx.node "Attention" version 24 (%q, %q, %q, %m, %none, %none, %l) {} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<5x3xi1>, none, none, tensor<2xi64>) -> tensor<2x4x5x8xf32>
  onnx.return %y : tensor<2x4x5x8xf32>
}

// -----

// Attention is decomposed if it has 16-bit floats, a bias, a softmax of another type, or scores as an output.

// CHECK: func.func @forward(
// CHECK-NOT: mtc.attention
// CHECK: return
onnx.graph @main(%h: tensor<2x4x5x8xbf16>, %q: tensor<2x4x5x8xf32>, %b: tensor<5x5xf32>) -> (tensor<2x4x5x8xbf16>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x5xf32>) {
  %y0 = onnx.node "Attention" version 23 (%h, %h, %h) {} : (tensor<2x4x5x8xbf16>, tensor<2x4x5x8xbf16>, tensor<2x4x5x8xbf16>) -> tensor<2x4x5x8xbf16>
  %y1 = onnx.node "Attention" version 23 (%q, %q, %q, %b) {} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<5x5xf32>) -> tensor<2x4x5x8xf32>
  %y2 = onnx.node "Attention" version 23 (%q, %q, %q) {softmax_precision = 11 : si64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %y3, %k3, %v3, %s3 = onnx.node "Attention" version 23 (%q, %q, %q) {} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> (tensor<2x4x5x8xf32>, none, none, tensor<2x4x5x5xf32>)
  onnx.return %y0, %y1, %y2, %y3, %s3 : tensor<2x4x5x8xbf16>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x5xf32>
}

// -----

// Three axes are split into heads. A boolean mask selects, a shorter one excludes the rest; the cap is applied before it.

// CHECK: func.func @forward(%[[X:.*]]: tensor<1x4x6xf32>, %[[M:.*]]: tensor<4x3xi1>)
// CHECK: %[[S:.*]] = mtc.reshape %[[X]] : tensor<1x4x6xf32> -> tensor<1x4x2x3xf32>
// CHECK: mtc.transpose %[[S]] [0, 2, 1, 3]
// CHECK: %[[MASK:.*]] = mtc.pad %[[M]] low [0, 0] high [0, 1] interior [0, 0] value false
// CHECK: mtc.tanh
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
// CHECK: %[[G:.*]] = mtc.gather %[[C]], %[[I]] axis 0 batch 0
// CHECK: mtc.broadcast %[[G]] axes [1] : tensor<2x5x2xf32> -> tensor<2x3x5x2xf32>
// CHECK: mtc.slice %[[X]] offsets [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x3x5x6xf32> -> tensor<2x3x5x2xf32>
// CHECK: mtc.slice %[[X]] offsets [0, 0, 0, 2] strides [1, 1, 1, 1] : tensor<2x3x5x6xf32> -> tensor<2x3x5x2xf32>
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

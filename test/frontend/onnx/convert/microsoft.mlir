// onnxruntime's operators in core operations.
// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mtc-opt %s --convert-onnx-to-mtc --mtc-recognize-attention --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=FUSED

// Causal attention without a mask is one operation. The projection is one matrix multiplication, whose columns are sliced.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x4x6xf32>, %[[W:.*]]: tensor<6x18xf32>, %[[B:.*]]: tensor<18xf32>)
// CHECK: %[[P:.*]] = mtc.contract %{{.*}}, %[[W]] batch [] x [] over [1] x [0]
// CHECK: %[[S:.*]] = mtc.add
// CHECK: mtc.slice %[[S]] offsets [0, 0, 0] {{.*}} -> tensor<2x4x6xf32>
// CHECK: %[[Q:.*]] = mtc.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x4x3x2xf32> -> tensor<2x3x4x2xf32>
// CHECK: mtc.slice %[[S]] offsets [0, 0, 6]
// CHECK: %[[K:.*]] = mtc.transpose
// CHECK: mtc.slice %[[S]] offsets [0, 0, 12]
// CHECK: %[[V:.*]] = mtc.transpose
// CHECK: mtc.attention %[[Q]], %[[K]], %[[V]] causal 0 scale 0.70710676
// FUSED: func.func @forward
// FUSED: mtc.attention {{.*}} causal 0 scale 0.70710676
onnx.graph @main(%x: tensor<2x4x6xf32>, %w: tensor<6x18xf32>, %b: tensor<18xf32>) -> tensor<2x4x6xf32> {
  %y = onnx.node domain "com.microsoft" "Attention" version 1 (%x, %w, %b) {num_heads = 3 : si64, unidirectional = 1 : si64} : (tensor<2x4x6xf32>, tensor<6x18xf32>, tensor<18xf32>) -> tensor<2x4x6xf32>
  onnx.return %y : tensor<2x4x6xf32>
}

// -----

// A mask of keys is a bias without gradient: mtc-recognize-attention fuses the decomposed form, and the bias is not repeated.

// CHECK: func.func @forward(%{{.*}}: tensor<2x4x6xf32>, %[[M:.*]]: tensor<2x4xi32>)
// CHECK: %[[R:.*]] = mtc.reshape %[[M]] : tensor<2x4xi32> -> tensor<2x1x1x4xi32>
// CHECK: %[[T:.*]] = mtc.compare gt %[[R]]
// CHECK: %[[F:.*]] = mtc.constant dense<-1.000000e+04>
// CHECK: mtc.select %[[T]], %{{.*}}, %[[F]] : tensor<2x1x1x4xi1>, tensor<2x1x1x4xf32>
// CHECK-NOT: mtc.attention
// CHECK: return
// FUSED: func.func @forward
// FUSED: mtc.attention {{.*}} bias %{{.*}} scale 0.70710676{{.*}}, tensor<2x1x1x4xf32>)
onnx.graph @main(%x: tensor<2x4x6xf32>, %m: tensor<2x4xi32>) -> tensor<2x4x6xf32> {
  %none = onnx.none
  %y = onnx.node domain "com.microsoft" "MultiHeadAttention" version 1 (%x, %x, %x, %none, %m) {num_heads = 3 : si64} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>, none, tensor<2x4xi32>) -> tensor<2x4x6xf32>
  onnx.return %y : tensor<2x4x6xf32>
}

// -----

// Heads of keys are shared. A window is a mask of positions; queries and keys are rotated by the first rows of the tables.

// CHECK: func.func @forward(%{{.*}}: tensor<2x5x32xf32>, %{{.*}}: tensor<2xi32>, %{{.*}}: tensor<i32>, %[[T:.*]]: tensor<8x2xf32>)
// CHECK: mtc.slice %[[T]] offsets [0, 0] {{.*}} -> tensor<5x2xf32>
// CHECK: %[[BEFORE:.*]] = mtc.sub %{{.*}} : tensor<5x5xi64>
// CHECK: %[[KEPT:.*]] = mtc.compare gt %{{.*}}, %[[BEFORE]] : tensor<5x5xi64>
// CHECK: %[[MASK:.*]] = mtc.reshape %[[KEPT]]
// CHECK: mtc.attention %{{.*}} mask %[[MASK]] causal 0 scale 5.000000e-01 : (tensor<2x4x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<1x1x5x5xi1>)
// FUSED: func.func @forward
// FUSED: mtc.attention
onnx.graph @main(%q: tensor<2x5x32xf32>, %l: tensor<2xi32>, %n: tensor<i32>, %t: tensor<8x2xf32>) -> tensor<2x5x16xf32> {
  %none = onnx.none
  %y = onnx.node domain "com.microsoft" "GroupQueryAttention" version 1 (%q, %none, %none, %none, %none, %l, %n, %t, %t) {num_heads = 4 : si64, kv_num_heads = 2 : si64, local_window_size = 3 : si64, do_rotary = 1 : si64} : (tensor<2x5x32xf32>, none, none, none, none, tensor<2xi32>, tensor<i32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x5x16xf32>
  onnx.return %y : tensor<2x5x16xf32>
}

// -----

// The result with 4 operands is the sum before the normalization.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>, %[[K:.*]]: tensor<3x4xf32>, %[[G:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = mtc.broadcast %[[K]] axes [0]
// CHECK: %[[S:.*]] = mtc.add %[[X]], %[[R]]
// CHECK: mtc.rsqrt
// CHECK: return %{{.*}}, %[[S]]
// FUSED: func.func @forward
onnx.graph @main(%x: tensor<2x3x4xf32>, %k: tensor<3x4xf32>, %g: tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %y, %a, %b, %s = onnx.node domain "com.microsoft" "SkipSimplifiedLayerNormalization" version 1 (%x, %k, %g) {} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, none, none, tensor<2x3x4xf32>)
  onnx.return %y, %s : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// mask_index is the number of ones in the mask.

// CHECK: func.func @forward(%[[I:.*]]: tensor<2x5xi32>, %[[W:.*]]: tensor<9x6xf32>, %[[P:.*]]: tensor<8x6xf32>, %{{.*}}: tensor<6xf32>, %[[M:.*]]: tensor<2x5xi32>)
// CHECK: mtc.slice %[[P]] offsets [0, 0] {{.*}} -> tensor<5x6xf32>
// CHECK: mtc.gather %[[W]], %[[I]] axis 0
// CHECK: mtc.compare eq %[[M]]
// CHECK: %[[N:.*]] = mtc.reduce add {{.*}} -> tensor<2xi32>
// CHECK: return %{{.*}}, %[[N]]
// FUSED: func.func @forward
onnx.graph @main(%i: tensor<2x5xi32>, %w: tensor<9x6xf32>, %p: tensor<8x6xf32>, %g: tensor<6xf32>, %m: tensor<2x5xi32>) -> (tensor<2x5x6xf32>, tensor<2xi32>) {
  %none = onnx.none
  %y, %n = onnx.node domain "com.microsoft" "EmbedLayerNormalization" version 1 (%i, %none, %w, %p, %none, %g, %g, %m) {} : (tensor<2x5xi32>, none, tensor<9x6xf32>, tensor<8x6xf32>, none, tensor<6xf32>, tensor<6xf32>, tensor<2x5xi32>) -> (tensor<2x5x6xf32>, tensor<2xi32>)
  onnx.return %y, %n : tensor<2x5x6xf32>, tensor<2xi32>
}

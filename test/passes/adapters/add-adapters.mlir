// RUN: mtc-opt %s --split-input-file --mtc-add-adapters --verify-diagnostics | FileCheck %s

// The input is the last axis of the first weight and the first axis of the second; the second one is also used transposed. If two patterns match, the
// one with more literal characters applies.
// CHECK: mtc.variable frozen @fc1.weight
// CHECK-NEXT: mtc.variable parameter @fc1.lora_A.weight : tensor<4x16xf32> = #mtc.uniform<2.500000e-01 : f64>
// CHECK-NEXT: mtc.variable parameter @fc1.lora_B.weight : tensor<10x4xf32> = #mtc.zeros
// CHECK-NEXT: mtc.adapter @fc1.weight axis 1 down @fc1.lora_A.weight up @fc1.lora_B.weight alpha 8.000000e+00
// The pattern matches the name in the user's module.
// CHECK: mtc.variable parameter @fc2.lora_A.weight : tensor<2x10xf32>
// CHECK-NEXT: mtc.variable parameter @fc2.lora_B.weight : tensor<16x2xf32>
// CHECK-NEXT: mtc.adapter @val_2 axis 0 down @fc2.lora_A.weight up @fc2.lora_B.weight alpha 2.000000e+00
// CHECK: mtc.variable frozen @fc1.bias
// CHECK-NOT: lora
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
// CHECK: %[[Y:.*]] = mtc.contract %[[X]], %{{.*}} batch [] x [] over [1] x [1]
// CHECK: %[[A:.*]] = mtc.read @fc1.lora_A.weight
// CHECK: %[[H:.*]] = mtc.contract %[[X]], %[[A]] batch [] x [] over [1] x [1]
// CHECK: %[[S:.*]] = mtc.constant dense<2.000000e+00>
// CHECK: %[[T:.*]] = mtc.mul %[[H]], %[[S]]
// CHECK: %[[B:.*]] = mtc.read @fc1.lora_B.weight
// CHECK: %[[D:.*]] = mtc.contract %[[T]], %[[B]] batch [] x [] over [1] x [1]
// CHECK: %[[Z:.*]] = mtc.add %[[Y]], %[[D]] : tensor<8x10xf32>
// The weight is the left operand, so its axis is the first axis of the result. A scale of 1 is omitted.
// CHECK: %[[Y2:.*]] = mtc.contract %{{.*}}, %[[Z]] batch [] x [] over [0] x [1]
// CHECK: %[[A2:.*]] = mtc.read @fc2.lora_A.weight
// CHECK: %[[H2:.*]] = mtc.contract %[[Z]], %[[A2]] batch [] x [] over [1] x [1]
// CHECK: %[[B2:.*]] = mtc.read @fc2.lora_B.weight
// CHECK: %[[D2:.*]] = mtc.contract %[[B2]], %[[H2]] batch [] x [] over [1] x [1]
// CHECK: %[[Z2:.*]] = mtc.add %[[Y2]], %[[D2]] : tensor<16x8xf32>
// The weight is used along its other axis, so the factors are swapped.
// CHECK: %[[Y3:.*]] = mtc.contract %[[X]], %{{.*}} batch [] x [] over [1] x [0]
// CHECK: %[[H3:.*]] = mtc.contract %[[X]], %{{.*}} batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x2xf32> -> tensor<8x2xf32>
// CHECK: %[[D3:.*]] = mtc.contract %[[H3]], %{{.*}} batch [] x [] over [1] x [0] : tensor<8x2xf32>, tensor<2x10xf32> -> tensor<8x10xf32>
// CHECK: %[[Z3:.*]] = mtc.add %[[Y3]], %[[D3]]
// CHECK: return %[[Z]], %[[Z2]], %[[Z3]]
// expected-remark @unknown {{training adapters of 2 weights, 156 elements; the parameters of the model, 330 elements, are frozen}}
mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["fc*:rank=2,alpha=2", "fc1.*:rank=4"]> {}
mtc.variable frozen @fc1.weight : tensor<10x16xf32> = #mtc.initializer<"fc1.weight">
mtc.variable frozen @val_2 : tensor<10x16xf32> = #mtc.initializer<"val_2"> {module_name = "fc2.weight"}
mtc.variable frozen @fc1.bias : tensor<10xf32> = #mtc.initializer<"fc1.bias">
func.func @forward(%x: tensor<8x16xf32>) -> (tensor<8x10xf32>, tensor<16x8xf32>, tensor<8x10xf32>) {
  %w = mtc.read @fc1.weight : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  %v = mtc.read @val_2 : tensor<10x16xf32>
  %z = mtc.contract %v, %y batch [] x [] over [0] x [1] : tensor<10x16xf32>, tensor<8x10xf32> -> tensor<16x8xf32>
  %t = mtc.transpose %v [1, 0] : tensor<10x16xf32> -> tensor<16x10xf32>
  %u = mtc.contract %x, %t batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x10xf32> -> tensor<8x10xf32>
  return %y, %z, %u : tensor<8x10xf32>, tensor<16x8xf32>, tensor<8x10xf32>
}

// -----

// Without a pattern, nothing changes.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: mtc.add
// CHECK: return
mtc.program "m" stage forward from <file = "m.onnx", digest = ""> {}
mtc.variable parameter @w : tensor<10x16xf32> = #mtc.initializer<"w">
func.func @forward(%x: tensor<8x16xf32>) -> tensor<8x10xf32> {
  %w = mtc.read @w : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

// -----

// A weight with other users is not adapted, because the merged weight would change these.
// expected-error @unknown {{--lora *: adapts nothing; expected matrices used only by contractions, got 'tied' (used by a lookup), 'both' (it is multiplied by itself), 'whole' (used by a batched contraction or one over both axes) and 1 more}}
mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["*"]> {}
mtc.variable frozen @tied : tensor<8x8xf32> = #mtc.initializer<"tied">
mtc.variable frozen @both : tensor<8x8xf32> = #mtc.initializer<"both">
mtc.variable frozen @whole : tensor<8x8xf32> = #mtc.initializer<"whole">
mtc.variable frozen @unread : tensor<8x8xf32> = #mtc.initializer<"unread">
func.func @forward(%i: tensor<4xi64>, %x: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) {
  %w = mtc.read @tied : tensor<8x8xf32>
  %g = mtc.gather %w, %i axis 0 batch 0 : tensor<8x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %b = mtc.read @both : tensor<8x8xf32>
  %s = mtc.contract %b, %b batch [] x [] over [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %v = mtc.read @whole : tensor<8x8xf32>
  %d = mtc.contract %x, %v batch [] x [] over [0, 1] x [0, 1] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<f32>
  return %g, %y, %s, %d : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
}

// -----

mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["w"]> {}
// expected-error @below {{--lora: the adapter of 'w' would be 'w.lora_B.weight', which already exists in the model}}
mtc.variable frozen @w : tensor<10x16xf32> = #mtc.initializer<"w">
mtc.variable frozen @w.lora_B.weight : tensor<10x8xf32> = #mtc.initializer<"w.lora_B.weight">
func.func @forward(%x: tensor<8x16xf32>) -> tensor<8x10xf32> {
  %w = mtc.read @w : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

// -----

// rslora scales by alpha / sqrt(rank): 8 / 2. Training drops elements of the input of A.
// CHECK: mtc.adapter @w axis 1 down @w.lora_A.weight up @w.lora_B.weight alpha 8.000000e+00 rank_stabilized dropout 2.500000e-01
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
// CHECK: %[[Y:.*]] = mtc.contract %[[X]]
// CHECK: %[[BITS:.*]] = mtc.random_bits {{.*}} stream 0
// CHECK: %[[MASK:.*]] = mtc.compare ge %[[BITS]]
// CHECK: %[[KEPT:.*]] = mtc.select %[[MASK]]
// CHECK: %[[IN:.*]] = mtc.select_by_mode training %[[KEPT]] inference %[[X]]
// CHECK: %[[H:.*]] = mtc.contract %[[IN]]
// CHECK: %[[S:.*]] = mtc.constant dense<4.000000e+00>
// CHECK: mtc.mul %[[H]], %[[S]]
// expected-remark @unknown {{training adapters of 1 weight, 104 elements}}
mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["w:4,dropout=0.25,rslora"]> {}
mtc.variable frozen @w : tensor<10x16xf32> = #mtc.initializer<"w">
func.func @forward(%x: tensor<8x16xf32>) -> tensor<8x10xf32> {
  %w = mtc.read @w : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

// -----

// dora: gradients treat the norms as constant, and no value has the shape of the matrix but its square.
// CHECK: mtc.variable parameter @w.lora_magnitude_vector : tensor<10xf32> = #mtc.adapted_norms
// CHECK-NEXT: mtc.adapter @w axis 1 down @w.lora_A.weight up @w.lora_B.weight alpha 8.000000e+00 magnitude @w.lora_magnitude_vector
// CHECK-LABEL: func.func @forward
// CHECK: %[[N:.*]] = mtc.sqrt %{{.*}} : tensor<10xf32>
// CHECK: %[[D:.*]] = mtc.detach %[[N]]
// CHECK: %[[R:.*]] = mtc.div %{{.*}}, %[[D]]
// CHECK: %[[Y:.*]] = mtc.contract %{{.*}} : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
// CHECK: %[[F:.*]] = mtc.broadcast %[[R]]
// CHECK: %[[Z:.*]] = mtc.add %[[Y]]
// CHECK: mtc.mul %[[F]], %[[Z]]
// expected-remark @unknown {{training adapters of 1 weight, 62 elements}}
mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["w:rank=2,dora"]> {}
mtc.variable frozen @w : tensor<10x16xf32> = #mtc.initializer<"w">
func.func @forward(%x: tensor<8x16xf32>) -> tensor<8x10xf32> {
  %w = mtc.read @w : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}

// -----

mtc.program "m" stage forward from <file = "m.onnx", digest = "", lora = ["w:rank=2,dora"]> {}
// expected-error @below {{--lora w:rank=2,dora: 'w' is also used transposed, for which dora is not defined; omit dora}}
mtc.variable frozen @w : tensor<10x16xf32> = #mtc.initializer<"w">
func.func @forward(%x: tensor<8x16xf32>, %h: tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8x16xf32>) {
  %w = mtc.read @w : tensor<10x16xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  %z = mtc.contract %h, %w batch [] x [] over [1] x [0] : tensor<8x10xf32>, tensor<10x16xf32> -> tensor<8x16xf32>
  return %y, %z : tensor<8x10xf32>, tensor<8x16xf32>
}

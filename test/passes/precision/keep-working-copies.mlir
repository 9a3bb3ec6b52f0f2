// RUN: mtc-opt %s --split-input-file --mtc-keep-working-copies | FileCheck %s
// RUN: mtc-opt %s --split-input-file --mtc-keep-working-copies --mtc-optimizer=optimizer=sgd | FileCheck %s --check-prefix UPDATE

// In bf16, the parameter consists of the upper halves of its elements. Users in f32 join both halves.
// CHECK: mtc.variable parameter @w : tensor<8x16xbf16> = #mtc.initializer<"w">
// CHECK-NEXT: mtc.variable low_half @w.low : tensor<8x16xi16> = #mtc.as_parameter of @w
// Vectors, and parameters that have only users in f32, have no copy.
// CHECK: mtc.variable parameter @b : tensor<16xf32>
// Frozen parameters have 16 bits only.
// CHECK: mtc.variable constant @frozen : tensor<8x16xbf16> = #mtc.initializer<"frozen">
// CHECK-LABEL: func.func @micro_step
// CHECK-DAG: %[[HIGH:.*]] = mtc.read @w : tensor<8x16xbf16>
// CHECK-DAG: %[[LOW:.*]] = mtc.read @w.low : tensor<8x16xi16>
// CHECK-DAG: %[[WHOLE:.*]] = mtc.join_halves %[[HIGH]], %[[LOW]]
// CHECK-DAG: %[[FROZEN:.*]] = mtc.read @frozen : tensor<8x16xbf16>
// CHECK-DAG: mtc.contract %{{.*}}, %[[HIGH]]
// CHECK-DAG: mtc.contract %{{.*}}, %[[FROZEN]]
// CHECK-DAG: mtc.tanh %[[WHOLE]]
// UPDATE-LABEL: func.func @update
// UPDATE-DAG: %[[HIGH:.*]] = mtc.read_flat [@w] : tensor<128xbf16>
// UPDATE-DAG: %[[LOW:.*]] = mtc.read_flat [@w.low] : tensor<128xi16>
// UPDATE: %[[OLD:.*]] = mtc.join_halves %[[HIGH]], %[[LOW]] : tensor<128xbf16>, tensor<128xi16> -> tensor<128xf32>
// UPDATE: %[[NEW:.*]] = mtc.sub %[[OLD]]
// UPDATE: %[[NEWLOW:.*]] = mtc.low_half %[[NEW]]
// UPDATE: %[[NEWHIGH:.*]] = mtc.high_half %[[NEW]]
// UPDATE: mtc.write_flat [@w.low], %[[NEWLOW]] : tensor<128xi16>
// UPDATE: mtc.write_flat [@w], %[[NEWHIGH]] : tensor<128xbf16>
// UPDATE: mtc.read_flat [@b] : tensor<16xf32>
mtc.variable parameter @w : tensor<8x16xf32> = #mtc.initializer<"w">
mtc.variable parameter @b : tensor<16xf32> = #mtc.initializer<"b">
mtc.variable constant @frozen : tensor<8x16xf32> = #mtc.initializer<"frozen">
mtc.variable gradient @w.grad : tensor<8x16xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<16xf32> = #mtc.zeros of @b
func.func @micro_step(%x: tensor<4x8xbf16>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<16xf32>) {
  %w = mtc.read @w : tensor<8x16xf32>
  %b = mtc.read @b : tensor<16xf32>
  %f = mtc.read @frozen : tensor<8x16xf32>
  %w16 = mtc.cast %w as storage : tensor<8x16xf32> -> tensor<8x16xbf16>
  %f16 = mtc.cast %f as storage : tensor<8x16xf32> -> tensor<8x16xbf16>
  %h = mtc.contract %x, %w16 batch [] x [] over [1] x [0] : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
  %k = mtc.contract %x, %f16 batch [] x [] over [1] x [0] : tensor<4x8xbf16>, tensor<8x16xbf16> -> tensor<4x16xf32>
  %t = mtc.tanh %w : tensor<8x16xf32>
  return %h, %k, %t, %b : tensor<4x16xf32>, tensor<4x16xf32>, tensor<8x16xf32>, tensor<16xf32>
}

// -----

// In f16, a copy is stored next to the updated parameter. If both cannot be padded to the same number of elements, the
// parameter is updated alone.
// CHECK: mtc.variable parameter @w : tensor<8x16xf32> = #mtc.initializer<"w">
// CHECK-NEXT: mtc.variable copy @w.f16 : tensor<8x16xf16> = #mtc.as_parameter of @w
// CHECK: mtc.variable copy @odd.f16 : tensor<3x3xf16> = #mtc.as_parameter of @odd
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.read @w.f16 : tensor<8x16xf16>
// UPDATE-LABEL: func.func @update
// UPDATE: %[[OLD:.*]] = mtc.read_flat [@w] : tensor<128xf32>
// UPDATE: %[[NEW:.*]] = mtc.sub %[[OLD]]
// UPDATE: %[[COPY:.*]] = mtc.cast %[[NEW]] : tensor<128xf32> -> tensor<128xf16>
// UPDATE: mtc.write_flat [@w.f16], %[[COPY]] : tensor<128xf16>
// UPDATE: mtc.write_flat [@w], %[[NEW]] : tensor<128xf32>
// UPDATE: mtc.read @odd : tensor<3x3xf32>
// UPDATE: mtc.write @odd.f16, %{{.*}} : tensor<3x3xf16>
// UPDATE: mtc.write @odd, %{{.*}} : tensor<3x3xf32>
mtc.variable parameter @w : tensor<8x16xf32> = #mtc.initializer<"w">
mtc.variable parameter @odd : tensor<3x3xf32> = #mtc.initializer<"odd">
mtc.variable gradient @w.grad : tensor<8x16xf32> = #mtc.zeros of @w
mtc.variable gradient @odd.grad : tensor<3x3xf32> = #mtc.zeros of @odd
func.func @micro_step(%x: tensor<4x8xf16>, %y: tensor<4x3xf16>) -> (tensor<4x16xf32>, tensor<4x3xf32>) {
  %w = mtc.read @w : tensor<8x16xf32>
  %o = mtc.read @odd : tensor<3x3xf32>
  %w16 = mtc.cast %w as storage : tensor<8x16xf32> -> tensor<8x16xf16>
  %o16 = mtc.cast %o as storage : tensor<3x3xf32> -> tensor<3x3xf16>
  %h = mtc.contract %x, %w16 batch [] x [] over [1] x [0] : tensor<4x8xf16>, tensor<8x16xf16> -> tensor<4x16xf32>
  %k = mtc.contract %y, %o16 batch [] x [] over [1] x [0] : tensor<4x3xf16>, tensor<3x3xf16> -> tensor<4x3xf32>
  return %h, %k : tensor<4x16xf32>, tensor<4x3xf32>
}

// Parameters of one element type and one decay are updated together.
//
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adamw no-decay-1d" | FileCheck %s
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adamw no-decay-1d weight-decay=0" | FileCheck %s --check-prefix=NONE

// CHECK: mtc.read_flat [@w1, @w2] : tensor<32xf32>
// CHECK: mtc.mul %{{.*}}, %{{.*}} : tensor<32xf32>
// CHECK: mtc.write_flat [@w1, @w2], %{{.*}} : tensor<32xf32>
// CHECK: %[[B:.*]] = mtc.read_flat [@b1, @b2] : tensor<32xf32>
// CHECK-NOT: mtc.mul %[[B]],
// CHECK: mtc.write_flat [@b1, @b2], %{{.*}} : tensor<32xf32>
// CHECK: mtc.read_flat [@d] : tensor<16xf64>
// CHECK: mtc.write_flat [@d], %{{.*}} : tensor<16xf64>

// NONE: mtc.read_flat [@w1, @b1, @w2, @b2] : tensor<64xf32>
mtc.variable parameter @w1 : tensor<4x4xf32> = #mtc.zeros
mtc.variable parameter @b1 : tensor<4xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<4x4xf32> = #mtc.zeros
mtc.variable parameter @b2 : tensor<f32> = #mtc.zeros
mtc.variable parameter @d : tensor<3x3xf64> = #mtc.zeros
mtc.variable gradient @w1.grad : tensor<4x4xf32> = #mtc.zeros of @w1
mtc.variable gradient @b1.grad : tensor<4xf32> = #mtc.zeros of @b1
mtc.variable gradient @w2.grad : tensor<4x4xf32> = #mtc.zeros of @w2
mtc.variable gradient @b2.grad : tensor<f32> = #mtc.zeros of @b2
mtc.variable gradient @d.grad : tensor<3x3xf64> = #mtc.zeros of @d

// RUN: mtc-opt %s --split-input-file --mtc-narrow-storage | FileCheck %s
// RUN: mtc-opt %s --split-input-file --mtc-narrow-storage --canonicalize --mtc-form-kernels --mtc-fuse-kernels | FileCheck %s --check-prefix FUSED

// The result of a contraction and values derived from it are stored in 16 bits. A gradient is a sum in f32.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[X:.*]] = mtc.cast %arg0 as storage : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[W:.*]] = mtc.cast %{{.*}} as storage : tensor<8x16xf32> -> tensor<8x16xbf16>
// CHECK: %[[H:.*]] = mtc.contract %[[X]], %[[W]] {{.*}} -> tensor<4x16xbf16>
// CHECK: %[[WIDE:.*]] = mtc.cast %[[H]] as storage : tensor<4x16xbf16> -> tensor<4x16xf32>
// CHECK: %[[T:.*]] = mtc.tanh %[[WIDE]] : tensor<4x16xf32>
// CHECK: %[[T16:.*]] = mtc.cast %[[T]] as storage : tensor<4x16xf32> -> tensor<4x16xbf16>
// CHECK: mtc.contract %[[T16]], %[[X]] {{.*}} : tensor<4x16xbf16>, tensor<4x8xbf16> -> tensor<16x8xf32>
// FUSED-LABEL: func.func @micro_step
// FUSED-NOT: as storage
// FUSED: mtc.contract {{.*}} -> tensor<4x16xbf16>
// FUSED-NEXT: mtc.kernel [4, 16]{{.*}} (tensor<4x16xbf16>) -> tensor<4x16xbf16>
// FUSED: math.tanh
// FUSED-NOT: truncf
// FUSED: mtc.contract {{.*}} -> tensor<16x8xf32>
module attributes {mtc.target = #mtc_cpu.target<precision = bf16>} {
  mtc.variable parameter @w : tensor<8x16xf32> = #mtc.zeros
  mtc.variable gradient @w.grad : tensor<16x8xf32> = #mtc.zeros of @w
  func.func @micro_step(%x: tensor<4x8xf32>) {
    %w = mtc.read @w : tensor<8x16xf32>
    %h = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    %t = mtc.tanh %h : tensor<4x16xf32>
    %g = mtc.contract %t, %x batch [] x [] over [0] x [0] : tensor<4x16xf32>, tensor<4x8xf32> -> tensor<16x8xf32>
    mtc.write @w.grad, %g : tensor<16x8xf32>
    return
  }
}

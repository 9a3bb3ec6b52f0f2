// RUN: mtc-opt %s --split-input-file --mtc-store-gradients=gradient-bits=16 --verify-diagnostics | FileCheck %s
// RUN: mtc-opt %s --split-input-file --mtc-store-gradients | FileCheck %s --check-prefix=WHOLE
// RUN: not mtc-opt %s --split-input-file --mtc-store-gradients=gradient-bits=8 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: --gradient-bits 8: invalid value; expected one of: 32, 16
// WHOLE-NOT: variable gradient {{.*}}bf16

// Terms of one gradient are added to one sum, which is rounded once. The contraction returns f32, through its transpose.
// CHECK: mtc.variable gradient @w.grad : tensor<9x4xbf16> = #mtc.zeros of @w
// CHECK: mtc.variable gradient @d.grad : tensor<4xf64> = #mtc.zeros of @d
// CHECK: mtc.variable gradient @unread.grad : tensor<4xbf16> = #mtc.zeros of @unread
// CHECK-LABEL: func.func @micro_step
// CHECK-NOT: mtc.read @w.grad
// CHECK: %[[C:.*]] = mtc.contract {{.*}} -> tensor<4x9xf32>
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %[[C]] [1, 0] : tensor<4x9xf32> -> tensor<9x4xf32>
// CHECK-NEXT: %[[ROWS:.*]] = mtc.scatter_add %{{.*}}, %{{.*}} axis 0 batch 0 : tensor<3x4xf32>, tensor<3xi64> -> tensor<9x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %[[T]], %[[ROWS]] : tensor<9x4xf32>
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad : tensor<9x4xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = mtc.cast %[[OLD]] as storage : tensor<9x4xbf16> -> tensor<9x4xf32>
// CHECK-NEXT: %[[NEW:.*]] = mtc.add %[[WIDE]], %[[SUM]] : tensor<9x4xf32>
// CHECK-NEXT: %[[NARROW:.*]] = mtc.cast %[[NEW]] as storage : tensor<9x4xf32> -> tensor<9x4xbf16>
// CHECK-NEXT: mtc.write @w.grad, %[[NARROW]] : tensor<9x4xbf16>
// CHECK-NOT: mtc.write @w.grad
// CHECK: mtc.write @d.grad, %{{.*}} : tensor<4xf64>
// CHECK-NEXT: return
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<9x4xf32> = #mtc.zeros
mtc.variable parameter @d : tensor<4xf64> = #mtc.zeros
mtc.variable parameter @unread : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<9x4xf32> = #mtc.zeros of @w
mtc.variable gradient @d.grad : tensor<4xf64> = #mtc.zeros of @d
mtc.variable gradient @unread.grad : tensor<4xf32> = #mtc.zeros of @unread
func.func @micro_step(%x: tensor<3x4xbf16>, %y: tensor<3x9xbf16>, %ids: tensor<3xi64>, %rows: tensor<3x4xf32>, %v: tensor<4xf64>) {
  %c = mtc.contract %x, %y batch [] x [] over [0] x [0] : tensor<3x4xbf16>, tensor<3x9xbf16> -> tensor<4x9xbf16>
  %t = mtc.transpose %c [1, 0] : tensor<4x9xbf16> -> tensor<9x4xbf16>
  %f = mtc.cast %t as storage : tensor<9x4xbf16> -> tensor<9x4xf32>
  %a = mtc.read @w.grad : tensor<9x4xf32>
  %b = mtc.add %a, %f : tensor<9x4xf32>
  mtc.write @w.grad, %b : tensor<9x4xf32>
  %e = mtc.read @w.grad : tensor<9x4xf32>
  %g = mtc.scatter_add %rows, %ids axis 0 batch 0 onto %e : tensor<9x4xf32> : tensor<3x4xf32>, tensor<3xi64> -> tensor<9x4xf32>
  mtc.write @w.grad, %g : tensor<9x4xf32>
  %h = mtc.read @d.grad : tensor<4xf64>
  %i = mtc.add %h, %v : tensor<4xf64>
  mtc.write @d.grad, %i : tensor<4xf64>
  return
}

// -----

// A result that has other users keeps its type.
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.contract {{.*}} -> tensor<4x9xbf16>
// CHECK: mtc.write @w.grad, %{{.*}} : tensor<4x9xbf16>
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<4x9xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4x9xf32> = #mtc.zeros of @w
func.func @micro_step(%x: tensor<3x4xbf16>, %y: tensor<3x9xbf16>) -> tensor<4x9xbf16> {
  %c = mtc.contract %x, %y batch [] x [] over [0] x [0] : tensor<3x4xbf16>, tensor<3x9xbf16> -> tensor<4x9xbf16>
  %f = mtc.cast %c as storage : tensor<4x9xbf16> -> tensor<4x9xf32>
  %a = mtc.read @w.grad : tensor<4x9xf32>
  %b = mtc.add %f, %a : tensor<4x9xf32>
  mtc.write @w.grad, %b : tensor<4x9xf32>
  return %c : tensor<4x9xbf16>
}

// -----

// expected-warning @unknown {{--gradient-bits 16 has no effect: gradients are not accumulated; use it with --accumulate}}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
// CHECK: mtc.variable gradient @w.grad : tensor<4xf32>
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w

// -----

// expected-warning @unknown {{--gradient-bits 16 has no effect: no gradient is f32}}
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @d : tensor<4xf64> = #mtc.zeros
mtc.variable gradient @d.grad : tensor<4xf64> = #mtc.zeros of @d

// -----

mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
func.func @micro_step(%x: tensor<4xf32>) {
  // expected-error @below {{does not add to the gradient; run mtc-store-gradients before mtc-optimizer}}
  mtc.write @w.grad, %x : tensor<4xf32>
  return
}

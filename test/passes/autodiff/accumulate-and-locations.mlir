// With several micro-steps, gradients are accumulated in their variables, each term as soon as it is known. The location of operations of
// the backward pass is the node that they differentiate.
//
// RUN: mtc-opt %s --split-input-file --mtc-autodiff --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[E:.*]] = mtc.exp %{{.*}} : tensor<4xf32> loc("/exp")
// CHECK-NOT: mtc.write
// CHECK: %[[D:.*]] = mtc.broadcast %{{.*}} : tensor<f32> -> tensor<4xf32> loc("backward"("/sum"))
// CHECK: %[[G:.*]] = mtc.mul %[[D]], %[[E]] : tensor<4xf32> loc("backward"("/exp"))
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad : tensor<4xf32> loc("backward"("w"))
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %[[OLD]], %[[G]] : tensor<4xf32> loc("backward"("w"))
// CHECK-NEXT: mtc.write @w.grad, %[[SUM]] : tensor<4xf32> loc("backward"("w"))
// CHECK-NOT: mtc.write
// CHECK: return
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %e = mtc.exp %w : tensor<4xf32> loc("/exp")
  %l = mtc.reduce add %e axes [0] : tensor<4xf32> -> tensor<f32> loc("/sum")
  return %l : tensor<f32>
}

// -----

// A table is used by a lookup and a contraction. The contraction and the rows are accumulated one after the other, and other terms are one
// sum.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[OTHERS:.*]] = mtc.add %{{.*}}, %{{.*}} : tensor<9x4xf32> loc("backward"("w"))
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %[[OLD]], %[[OTHERS]]
// CHECK-NEXT: mtc.write @w.grad, %[[SUM]]
// CHECK: mtc.contract
// CHECK: %[[PRODUCT:.*]] = mtc.contract
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %[[OLD]], %[[PRODUCT]]
// CHECK-NEXT: mtc.write @w.grad, %[[SUM]]
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad
// CHECK-NEXT: %[[ROWS:.*]] = mtc.scatter_add {{.*}} onto %[[OLD]]
// CHECK-NEXT: mtc.write @w.grad, %[[ROWS]]
// CHECK-NOT: mtc.write
// CHECK: return
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<9x4xf32> = #mtc.zeros
func.func @micro_step(%ids: tensor<3xi64>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<9x4xf32>
  %h = mtc.gather %w, %ids axis 0 batch 0 : tensor<9x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %z = mtc.contract %h, %w batch [] x [] over [1] x [1] : tensor<3x4xf32>, tensor<9x4xf32> -> tensor<3x9xf32>
  %a = mtc.reduce add %z axes [0, 1] : tensor<3x9xf32> -> tensor<f32>
  %e = mtc.exp %w : tensor<9x4xf32>
  %s = mtc.mul %e, %w : tensor<9x4xf32>
  %b = mtc.reduce add %s axes [0, 1] : tensor<9x4xf32> -> tensor<f32>
  %l = mtc.add %a, %b : tensor<f32>
  return %l : tensor<f32>
}

// -----

// If two reads of a variable have the same gradient, it is accumulated twice.
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[G:.*]] = mtc.scatter_add %{{.*}}, %{{.*}} axis 0 batch 0 : tensor<3x4xf32>, tensor<3xi64> -> tensor<9x4xf32>
// CHECK-NEXT: %[[TWICE:.*]] = mtc.add %[[G]], %[[G]]
// CHECK-NEXT: %[[OLD:.*]] = mtc.read @w.grad
// CHECK-NEXT: %[[SUM:.*]] = mtc.add %[[OLD]], %[[TWICE]]
// CHECK-NEXT: mtc.write @w.grad, %[[SUM]]
// CHECK-NOT: mtc.write
mtc.program "model" stage forward accumulation <micro_steps = 2> {}
mtc.variable parameter @w : tensor<9x4xf32> = #mtc.zeros
func.func @micro_step(%ids: tensor<3xi64>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<9x4xf32>
  %v = mtc.read @w : tensor<9x4xf32>
  %s = mtc.add %w, %v : tensor<9x4xf32>
  %h = mtc.gather %s, %ids axis 0 batch 0 : tensor<9x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %l = mtc.reduce add %h axes [0, 1] : tensor<3x4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

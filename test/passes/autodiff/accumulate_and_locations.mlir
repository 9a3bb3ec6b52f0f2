// With accumulation gradients are added to their variables. Operations of the backward pass carry the node of the
// operation that they differentiate.
//
// RUN: mtc-opt %s --mtc-autodiff=accumulate --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @micro_step
// CHECK: %[[E:.*]] = mtc.exp %{{.*}} : tensor<4xf32> loc("/exp")
// CHECK-NOT: mtc.write
// CHECK: %[[D:.*]] = mtc.broadcast %{{.*}} : tensor<f32> -> tensor<4xf32> loc("backward"("/sum"))
// CHECK: %[[G:.*]] = mtc.mul %[[D]], %[[E]] : tensor<4xf32> loc("backward"("/exp"))
// CHECK-NEXT: mtc.accumulate @w.grad, %[[G]] : tensor<4xf32> loc("backward"("w"))
// CHECK-NOT: mtc.write
// CHECK: return
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %e = mtc.exp %w : tensor<4xf32> loc("/exp")
  %l = mtc.reduce add %e axes [0] : tensor<4xf32> -> tensor<f32> loc("/sum")
  return %l : tensor<f32>
}

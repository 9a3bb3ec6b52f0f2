// RUN: mtc-opt %s -mtc-optimizer="optimizer=adafactor" | FileCheck %s

// The row moments of a matrix with one column have its shape, but are not divided: the step computes with all rows.
// CHECK: mtc.variable optimizer @w.row_moment2 : tensor<2x13x1xf32> = #mtc.zeros of @w
mtc.program "m" stage training ranks <count = 2, tensor = 2> {}
mtc.variable parameter @w : tensor<1x13x1xf32> part of tensor<2x13x1xf32> along #mtc.axis_split<axis = 0, parts = 2> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<1x13x1xf32> = #mtc.zeros of @w
func.func @micro_step() {
  %w = mtc.read @w : tensor<1x13x1xf32>
  mtc.write @w.grad, %w : tensor<1x13x1xf32>
  return
}
// CHECK-LABEL: func.func @update
// CHECK: mtc.write @w, %{{.*}} : tensor<1x13x1xf32>

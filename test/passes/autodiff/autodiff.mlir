// RUN: mtc-opt %s --split-input-file --mtc-autodiff | FileCheck %s

// The parameter has one use. The cotangent of the loss is 1, and the gradient is written to its variable as soon as it is known.
//
// CHECK: mtc.variable parameter @w : tensor<4xf32>
// CHECK-NEXT: mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[W:.*]] = mtc.read @w
// CHECK: %[[E:.*]] = mtc.exp %[[W]]
// CHECK: %[[L:.*]] = mtc.reduce add %[[E]]
// CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[D:.*]] = mtc.broadcast %[[ONE]] axes [0] : tensor<f32> -> tensor<4xf32>
// CHECK: %[[G:.*]] = mtc.mul %[[D]], %[[E]] : tensor<4xf32>
// CHECK-NEXT: mtc.write @w.grad, %[[G]] : tensor<4xf32>
// CHECK: return %[[L]]
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %e = mtc.exp %w : tensor<4xf32> loc("/exp")
  %l = mtc.reduce add %e axes [0] : tensor<4xf32> -> tensor<f32> loc("/sum")
  return %l : tensor<f32>
}

// -----

// The cotangents of several uses of a value, and of several reads of a variable, are summed.
//
// CHECK-LABEL: func.func @micro_step
// CHECK-DAG: %[[A:.*]] = mtc.read @w
// CHECK-DAG: %[[EA:.*]] = mtc.exp %[[A]]
// CHECK-DAG: %[[P:.*]] = mtc.mul %[[A]], %[[EA]]
// CHECK: %[[B:.*]] = mtc.read @w
// CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00>
// CHECK: %[[GP:.*]] = mtc.mul %[[ONE]], %[[B]]
// CHECK: %[[GB:.*]] = mtc.mul %[[ONE]], %[[P]]
// CHECK: %[[GA1:.*]] = mtc.mul %[[GP]], %[[EA]]
// CHECK: %[[GE:.*]] = mtc.mul %[[GP]], %[[A]]
// CHECK: %[[GA2:.*]] = mtc.mul %[[GE]], %[[EA]]
// CHECK: %[[GA:.*]] = mtc.add %[[GA1]], %[[GA2]]
// CHECK: %[[G:.*]] = mtc.add %{{.*}}, %{{.*}}
// CHECK-NEXT: mtc.write @w.grad, %[[G]]
mtc.variable parameter @w : tensor<f32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %a = mtc.read @w : tensor<f32>
  %e = mtc.exp %a : tensor<f32>
  %p = mtc.mul %a, %e : tensor<f32>
  %b = mtc.read @w : tensor<f32>
  %l = mtc.mul %p, %b : tensor<f32>
  return %l : tensor<f32>
}

// -----

// Only cotangents that a parameter needs are computed. The input, a constant variable, and a value that the loss does not use have no
// cotangent.
//
// CHECK-NOT: @frozen.grad
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[N:.*]] = mtc.tanh
// CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00>
// CHECK-NEXT: %[[DS:.*]] = mtc.broadcast %[[ONE]] axes [0, 1] : tensor<f32> -> tensor<8x3xf32>
// CHECK-NEXT: %[[G:.*]] = mtc.contract %[[DS]], %[[N]]
// CHECK-NEXT: mtc.write @w.grad, %[[G]]
// CHECK-NEXT: return
mtc.variable parameter @w : tensor<3x4xf32> = #mtc.zeros
mtc.variable constant @frozen : tensor<8x3xf32> = #mtc.zeros
mtc.variable state @statistic : tensor<8x3xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x4xf32>) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %n = mtc.tanh %x : tensor<8x4xf32>
  %w = mtc.read @w : tensor<3x4xf32>
  %f = mtc.read @frozen : tensor<8x3xf32>
  %y = mtc.contract %n, %w batch [] x [] over [1] x [1] : tensor<8x4xf32>, tensor<3x4xf32> -> tensor<8x3xf32>
  %t = mtc.tanh %y : tensor<8x3xf32>
  mtc.write @statistic, %t : tensor<8x3xf32>
  %e = mtc.exp %f : tensor<8x3xf32>
  %s = mtc.add %y, %e : tensor<8x3xf32>
  %l = mtc.reduce add %s axes [0, 1] : tensor<8x3xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A detached value, a comparison, and a conversion to integers stop cotangents.
//
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[T:.*]] = mtc.detach
// CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[DS:.*]] = mtc.broadcast %[[ONE]]
// CHECK-NEXT: %[[DP:.*]] = mtc.mul %[[DS]], %{{.*}} : tensor<4xf32>
// CHECK-NEXT: %[[DW:.*]] = mtc.mul %[[DP]], %[[T]] : tensor<4xf32>
// CHECK-NEXT: mtc.write @w.grad, %[[DW]]
// CHECK-NEXT: return
mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<4xf32>
  %t = mtc.detach %w : tensor<4xf32>
  %i = mtc.cast %w : tensor<4xf32> -> tensor<4xi32>
  %r = mtc.cast %i : tensor<4xi32> -> tensor<4xf32>
  %p = mtc.mul %w, %t : tensor<4xf32>
  %q = mtc.mul %p, %r : tensor<4xf32>
  %l = mtc.reduce add %q axes [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The function is differentiated in f64.
//
// CHECK: mtc.variable gradient @w.grad : tensor<f64>
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.constant dense<1.000000e+00> : tensor<f64>
mtc.variable parameter @w : tensor<f64> = #mtc.zeros
func.func @micro_step() -> (tensor<f64> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<f64>
  %l = mtc.exp %w : tensor<f64>
  return %l : tensor<f64>
}

// -----

// The parameter itself is the loss.
//
// CHECK-LABEL: func.func @micro_step
// CHECK: %[[ONE:.*]] = mtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: mtc.write @w.grad, %[[ONE]]
mtc.variable parameter @w : tensor<f32> = #mtc.zeros
func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<f32>
  return %w : tensor<f32>
}

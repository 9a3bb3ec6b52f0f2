// RUN: mtc-opt %s --mtc-recompute-elementwise -split-input-file -mlir-print-local-scope | FileCheck %s

// The two results of tanh and square need more memory than the contraction's result, so they are recomputed from it.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[X:.*]] = mtc.contract
// CHECK: %[[L:.*]] = mtc.reduce
// CHECK-DAG: %[[T:.*]] = mtc.tanh %[[X]] {mtc.recomputed}
// CHECK-DAG: %[[S:.*]] = mtc.mul %[[X]], %[[X]] {mtc.recomputed}
// CHECK: %[[G:.*]] = mtc.mul %[[T]], %[[S]]
// CHECK: return %[[L]], %[[G]]
func.func @chain(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<64x64xf32>) {
  %x = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  %t = mtc.tanh %x : tensor<64x64xf32>
  %s = mtc.mul %x, %x : tensor<64x64xf32>
  %p = mtc.add %t, %s : tensor<64x64xf32>
  %l = mtc.reduce add %p axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %g = mtc.mul %t, %s : tensor<64x64xf32>
  return %l, %g : tensor<f32>, tensor<64x64xf32>
}

// -----

// Replacing one live value by another of the same size has no benefit, so the value that the backward pass needs is saved.
// CHECK-LABEL: func.func @same_size(
// CHECK-NOT: mtc.recomputed
func.func @same_size(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<64x64xf32>) {
  %x = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  %t = mtc.tanh %x : tensor<64x64xf32>
  %l = mtc.reduce add %t axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %g = mtc.mul %t, %t : tensor<64x64xf32>
  return %l, %g : tensor<f32>, tensor<64x64xf32>
}

// -----

// The result of a call must be stored in any case. The centered value is recomputed from it by one subtraction.
// CHECK-LABEL: func.func @centered(
// CHECK: %[[X:.*]] = mtc.contract
// CHECK: %[[L:.*]] = mtc.reduce add
// CHECK: %[[C:.*]] = mtc.sub %[[X]], %{{.*}} {mtc.recomputed}
// CHECK: mtc.mul %[[C]], %[[C]]
func.func @centered(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %m: tensor<64xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<64x64xf32>) {
  %x = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  %mb = mtc.broadcast %m axes [0] : tensor<64xf32> -> tensor<64x64xf32>
  %c = mtc.sub %x, %mb : tensor<64x64xf32>
  %l = mtc.reduce add %c axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %g = mtc.mul %c, %c : tensor<64x64xf32>
  return %l, %g : tensor<f32>, tensor<64x64xf32>
}

// -----

// A sum of two values of the same size is saved, so that the sums of a residual stream are not recomputed from preceding ones.
// CHECK-LABEL: func.func @residual(
// CHECK-NOT: mtc.recomputed
func.func @residual(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<64x64xf32>) {
  %x = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %x batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = mtc.add %x, %y : tensor<64x64xf32>
  %l = mtc.reduce add %s axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
  %g = mtc.mul %s, %s : tensor<64x64xf32>
  return %l, %g : tensor<f32>, tensor<64x64xf32>
}

// -----

// A normalized value is recomputed from its row's statistics; sums are never recomputed. The broadcast is recomputed, through a view.
// CHECK-LABEL: func.func @statistics(
// CHECK: %[[M:.*]] = mtc.reduce add %[[X:.*]] axes [1]
// CHECK: mtc.reduce add
// CHECK: %[[B:.*]] = mtc.broadcast %[[M]] axes [1] {mtc.recomputed}
// CHECK: %[[C:.*]] = mtc.sub %[[X]], %[[B]] {mtc.recomputed}
// CHECK: %[[V:.*]] = mtc.reshape %[[C]] {mtc.recomputed}
// CHECK: %[[G:.*]] = mtc.mul %[[V]], %[[V]]
// CHECK-NOT: mtc.reduce
func.func @statistics(%x: tensor<64x32xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<2048xf32>) {
  %m = mtc.reduce add %x axes [1] : tensor<64x32xf32> -> tensor<64xf32>
  %b = mtc.broadcast %m axes [1] : tensor<64xf32> -> tensor<64x32xf32>
  %c = mtc.sub %x, %b : tensor<64x32xf32>
  %v = mtc.reshape %c : tensor<64x32xf32> -> tensor<2048xf32>
  %l = mtc.reduce add %v axes [0] : tensor<2048xf32> -> tensor<f32>
  %g = mtc.mul %v, %v : tensor<2048xf32>
  return %l, %g : tensor<f32>, tensor<2048xf32>
}

// -----

// The position of a window's maximum is stored as a byte, and the comparison with the positions of the elements is recomputed.
// CHECK-LABEL: func.func @positions(
// CHECK: %[[F:.*]] = mtc.cast %{{.*}} : tensor<64xi32> -> tensor<64xi8>
// CHECK: %[[L:.*]] = mtc.reduce add
// CHECK-DAG: mtc.iota 1 {mtc.recomputed} : tensor<64x9xi32>
// CHECK-DAG: mtc.cast %[[F]] {mtc.recomputed}
// CHECK: %[[I:.*]] = mtc.compare eq %{{.*}}, %{{.*}} {mtc.recomputed}
// CHECK: %[[G:.*]] = mtc.select %[[I]]
// CHECK: return %[[L]], %[[G]]
func.func @positions(%x: tensor<64x9xf32>) -> (tensor<f32> {mtc.differentiated}, tensor<64x9xf32>) {
  %m = mtc.reduce max %x axes [1] : tensor<64x9xf32> -> tensor<64xf32>
  %b = mtc.broadcast %m axes [1] : tensor<64xf32> -> tensor<64x9xf32>
  %e = mtc.compare eq %x, %b : tensor<64x9xf32> -> tensor<64x9xi1>
  %i = mtc.iota 1 : tensor<64x9xi32>
  %three = mtc.constant dense<3> : tensor<64x9xi32>
  %n0 = mtc.mul %i, %three : tensor<64x9xi32>
  %n1 = mtc.add %n0, %i : tensor<64x9xi32>
  %n2 = mtc.add %n1, %i : tensor<64x9xi32>
  %n3 = mtc.add %n2, %i : tensor<64x9xi32>
  %n4 = mtc.add %n3, %i : tensor<64x9xi32>
  %n5 = mtc.add %n4, %i : tensor<64x9xi32>
  %n6 = mtc.add %n5, %i : tensor<64x9xi32>
  %n7 = mtc.add %n6, %i : tensor<64x9xi32>
  %n8 = mtc.add %n7, %i : tensor<64x9xi32>
  %n = mtc.add %n8, %three : tensor<64x9xi32>
  %taken = mtc.select %e, %n, %three : tensor<64x9xi1>, tensor<64x9xi32>
  %first = mtc.reduce min %taken axes [1] : tensor<64x9xi32> -> tensor<64xi32>
  %byte = mtc.cast %first : tensor<64xi32> -> tensor<64xi8>
  %wide = mtc.cast %byte : tensor<64xi8> -> tensor<64xi32>
  %f = mtc.broadcast %wide axes [1] : tensor<64xi32> -> tensor<64x9xi32>
  %is = mtc.compare eq %n, %f : tensor<64x9xi32> -> tensor<64x9xi1>
  %zero = mtc.constant dense<0.0> : tensor<64x9xf32>
  %y = mtc.select %is, %x, %zero : tensor<64x9xi1>, tensor<64x9xf32>
  %l = mtc.reduce add %y axes [0, 1] : tensor<64x9xf32> -> tensor<f32>
  %one = mtc.constant dense<1.0> : tensor<64x9xf32>
  %g = mtc.select %is, %one, %zero : tensor<64x9xi1>, tensor<64x9xf32>
  return %l, %g : tensor<f32>, tensor<64x9xf32>
}

// -----

// A function without a backward pass does not change.
// CHECK-LABEL: func.func @plain(
// CHECK-NOT: mtc.recomputed
func.func @plain(%x: tensor<64x32xf32>) -> (tensor<f32>, tensor<64x32xf32>) {
  %t = mtc.tanh %x : tensor<64x32xf32>
  %l = mtc.reduce add %t axes [0, 1] : tensor<64x32xf32> -> tensor<f32>
  %g = mtc.mul %t, %t : tensor<64x32xf32>
  return %l, %g : tensor<f32>, tensor<64x32xf32>
}

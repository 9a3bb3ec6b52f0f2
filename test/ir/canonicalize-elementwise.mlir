// RUN: mtc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0
func.func @identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = mtc.constant dense<0.0> : tensor<4xf32>
  %one = mtc.constant dense<1.0> : tensor<4xf32>
  %a = mtc.add %zero, %x : tensor<4xf32>
  %b = mtc.sub %a, %zero : tensor<4xf32>
  %c = mtc.mul %one, %b : tensor<4xf32>
  %d = mtc.div %c, %one : tensor<4xf32>
  %e = mtc.neg %d : tensor<4xf32>
  %f = mtc.neg %e : tensor<4xf32>
  %g = mtc.cast %f : tensor<4xf32> -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// x * 0 is not 0 if x is infinite or NaN.
// CHECK-LABEL: func.func @times_zero
// CHECK: mtc.mul
func.func @times_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = mtc.constant dense<0.0> : tensor<4xf32>
  %y = mtc.mul %x, %zero : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @splats
// CHECK-DAG: mtc.constant dense<5.000000e+00> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<-2> : tensor<4xi8>
// CHECK-DAG: mtc.constant dense<2.550000e+02> : tensor<4xf32>
// CHECK-DAG: mtc.constant dense<true> : tensor<4xi1>
// CHECK-NEXT: return
func.func @splats() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi1>) {
  %two = mtc.constant dense<2.0> : tensor<4xf32>
  %four = mtc.constant dense<4.0> : tensor<4xf32>
  %n = mtc.constant dense<127> : tensor<4xi8>
  %u = mtc.constant dense<255> : tensor<4xui8>
  %a = mtc.mul %two, %two : tensor<4xf32>
  %one = mtc.sub %a, %two : tensor<4xf32>
  %half = mtc.div %one, %four : tensor<4xf32>
  %three = mtc.constant dense<3.0> : tensor<4xf32>
  %sum = mtc.add %two, %three : tensor<4xf32>
  %wrapped = mtc.add %n, %n : tensor<4xi8>
  %w = mtc.cast %u : tensor<4xui8> -> tensor<4xf32>
  %b = mtc.cast %n : tensor<4xi8> -> tensor<4xi1>
  return %sum, %half, %wrapped, %w, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %false = mtc.constant dense<false> : tensor<4xi1>
  %x = mtc.select %c, %a, %a : tensor<4xi1>, tensor<4xf32>
  %y = mtc.select %false, %a, %b : tensor<4xi1>, tensor<4xf32>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @same_in_both_modes(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[A]]
func.func @same_in_both_modes(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = mtc.select_by_mode training %a inference %a : tensor<4xf32>
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @powers
// CHECK: mtc.mul %arg0, %arg0
// CHECK: mtc.sqrt %arg0
// CHECK: mtc.pow
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = mtc.constant dense<2.0> : tensor<4xf32>
  %half = mtc.constant dense<0.5> : tensor<4xf32>
  %other = mtc.constant dense<2.5> : tensor<4xf32>
  %a = mtc.pow %x, %two : tensor<4xf32>
  %b = mtc.pow %x, %half : tensor<4xf32>
  %c = mtc.pow %x, %other : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Users of the sign of a ReLU's operand test its result instead, so that the operand is not kept live.
// CHECK-LABEL: func.func @clamped(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>
// CHECK: %[[C:.*]] = mtc.compare le %[[X]], %[[Z:.*]] :
// CHECK: %[[Y:.*]] = mtc.select %[[C]], %[[Z]], %[[X]]
// CHECK: %[[ASKED:.*]] = mtc.compare le %[[Y]], %[[Z]]
// CHECK: %[[DX:.*]] = mtc.select %[[ASKED]], %[[Z]], %[[DY]]
// CHECK: return %[[Y]], %[[DX]]
func.func @clamped(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = mtc.constant dense<0.0> : tensor<4xf32>
  %c = mtc.compare le %x, %z : tensor<4xf32> -> tensor<4xi1>
  %y = mtc.select %c, %z, %x : tensor<4xi1>, tensor<4xf32>
  %dx = mtc.select %c, %z, %dy : tensor<4xi1>, tensor<4xf32>
  return %y, %dx : tensor<4xf32>, tensor<4xf32>
}

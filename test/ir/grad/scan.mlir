// The gradient of a scan is a scan in the other direction. The original also stacks the states before each iteration.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize | FileCheck %s

// CHECK: func.func private @cell_saved(%[[S:[a-z0-9]+]]: tensor<4xf64>,
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[S]] : tensor<4xf64>, tensor<4xi64>, tensor<4xf64>, tensor<4xf64>

// The gradient carries the cotangent of h and the sums for w and b, and reads the saved h and the cotangents of y. It does not need x, whose gradient
// it returns, nor the counter.
// CHECK: func.func private @cell_gradient(%[[DH:[a-z0-9]+]]: tensor<4xf64>, %[[DW:[a-z0-9]+]]: tensor<4xf64>, %[[DB:[a-z0-9]+]]: tensor<4xf64>, %[[H:[a-z0-9]+]]: tensor<4xf64>, %[[DY:[a-z0-9]+]]: tensor<4xf64>, %[[W:[a-z0-9]+]]: tensor<4xf64>)
// CHECK-SAME: attributes {mtc.body = array<i64: 3, 2>}
// CHECK: %[[D:.*]] = mtc.add %[[DY]], %[[DH]]
// CHECK: %[[NEXT:.*]] = mtc.mul %[[D]], %[[W]]
// CHECK: %[[P:.*]] = mtc.mul %[[D]], %[[H]]
// CHECK: %[[SUM:.*]] = mtc.add %[[DW]], %[[P]]
// CHECK: return %[[NEXT]], %[[SUM]], %[[DB]], %[[DH]]
func.func private @cell(%h: tensor<4xf64>, %n: tensor<4xi64>, %x: tensor<4xf64>, %w: tensor<4xf64>, %b: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xi64>, tensor<4xf64>) attributes {mtc.body = array<i64: 2, 1>} {
  %y = mtc.mul %h, %w : tensor<4xf64>
  %z = mtc.add %y, %x : tensor<4xf64>
  %m = mtc.add %n, %n : tensor<4xi64>
  return %z, %m, %y : tensor<4xf64>, tensor<4xi64>, tensor<4xf64>
}

// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME: %[[H0:.*]]: tensor<4xf64>, %[[N0:.*]]: tensor<4xi64>, %[[X:.*]]: tensor<8x4xf64>, %[[V:.*]]: tensor<4xf64>, %[[B:.*]]: tensor<4xf64>, %[[SEED:.*]]: tensor<8x4xf64>)
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.0{{.*}}> : tensor<4xf64>
// CHECK: %[[F:.*]]:4 = mtc.scan @cell_saved 8 times reversed from(%[[H0]], %[[N0]]) over(%[[X]]) with(%[[V]], %[[B]])
// CHECK: %[[G:.*]]:4 = mtc.scan @cell_gradient 8 times from(%[[ZERO]], %[[ZERO]], %[[ZERO]]) over(%[[F]]#3, %[[SEED]]) with(%[[V]])
// CHECK: return %[[G]]#0, %[[G]]#3, %[[G]]#1, %[[G]]#2
func.func @f(%h0: tensor<4xf64>, %n0: tensor<4xi64>, %x: tensor<8x4xf64>, %w: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<8x4xf64> {
  %h, %n, %y = mtc.scan @cell 8 times reversed from(%h0, %n0) over(%x) with(%w, %b)
    : (tensor<4xf64>, tensor<4xi64>, tensor<8x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xi64>, tensor<8x4xf64>)
  return %y : tensor<8x4xf64>
}

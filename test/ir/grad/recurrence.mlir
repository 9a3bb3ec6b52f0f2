// The gradient of a recurrent layer consists of one operation and contractions over all steps.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @lstm_vjp
// CHECK-SAME: (%[[X:.*]]: tensor<3x2x8xf64>, %[[R:.*]]: tensor<8x2xf64>, %[[H0:.*]]: tensor<2x2xf64>, %[[C0:.*]]: tensor<2x2xf64>, %[[D:.*]]: tensor<3x2x2xf64>)
// CHECK: %[[A:.*]], %[[H:.*]], %[[C:.*]] = mtc.recurrence lstm %[[X]], %[[R]] from %[[H0]] cell %[[C0]]
// CHECK: %[[DX:.*]], %[[DH:.*]], %[[DC:.*]] = mtc.recurrence_gradient lstm %[[A]], %[[R]] of %[[H]] auxiliary %[[C]] from %[[H0]] cell %[[C0]] at %[[D]] :
// The weights multiply the states before each step: the initial one, and those of all steps but the last.
// CHECK: mtc.slice %[[DX]] {{.*}} -> tensor<2x2x8xf64>
// CHECK: mtc.slice %[[H]] {{.*}} -> tensor<2x2x2xf64>
// CHECK: %[[LATER:.*]] = mtc.contract {{.*}} : tensor<4x8xf64>, tensor<4x2xf64> -> tensor<8x2xf64>
// CHECK: %[[FIRST:.*]] = mtc.contract %{{.*}}, %[[H0]] {{.*}} : tensor<2x8xf64>, tensor<2x2xf64> -> tensor<8x2xf64>
// CHECK: %[[DR:.*]] = mtc.add %[[LATER]], %[[FIRST]]
// CHECK: return %[[DX]], %[[DR]], %[[DH]], %[[DC]]
func.func @lstm(%x: tensor<3x2x8xf64>, %r: tensor<8x2xf64>, %h0: tensor<2x2xf64>, %c0: tensor<2x2xf64>) -> tensor<3x2x2xf64> {
  %a, %h, %c = mtc.recurrence lstm %x, %r from %h0 cell %c0
    : (tensor<3x2x8xf64>, tensor<8x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
      -> (tensor<3x2x8xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>)
  return %h : tensor<3x2x2xf64>
}

// Cells have cotangents, too. A zero initial state contributes nothing to the gradient of the weights.
// CHECK-LABEL: func.func @cells_vjp
// CHECK: mtc.recurrence_gradient lstm {{.*}} at %{{.*}}, %{{.*}} reversed
// CHECK-COUNT-1: mtc.contract
// CHECK-NOT: mtc.contract
// CHECK: return
func.func @cells(%x: tensor<3x1x4xf64>, %r: tensor<4x1xf64>, %c0: tensor<1x1xf64>) -> tensor<3x1x1xf64> {
  %h0 = mtc.constant dense<0.0> : tensor<1x1xf64>
  %a, %h, %c = mtc.recurrence lstm %x, %r from %h0 cell %c0 reversed
    : (tensor<3x1x4xf64>, tensor<4x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>)
      -> (tensor<3x1x4xf64>, tensor<3x1x1xf64>, tensor<3x1x1xf64>)
  return %c : tensor<3x1x1xf64>
}

// The candidate's weights multiply r * h'.
// CHECK-LABEL: func.func @gru_vjp
// CHECK: %{{.*}}, %[[H:.*]], %[[M:.*]] = mtc.recurrence gru
// CHECK: mtc.recurrence_gradient gru
// CHECK: mtc.concatenate
func.func @gru(%x: tensor<3x2x6xf64>, %r: tensor<6x2xf64>, %h0: tensor<2x2xf64>) -> tensor<3x2x2xf64> {
  %a, %h, %m = mtc.recurrence gru %x, %r from %h0
    : (tensor<3x2x6xf64>, tensor<6x2xf64>, tensor<2x2xf64>) -> (tensor<3x2x6xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>)
  return %h : tensor<3x2x2xf64>
}

// CHECK-LABEL: func.func @gru_reset_after_vjp
// CHECK: %[[DX:.*]], %[[DH:.*]], %[[DQ:.*]] = mtc.recurrence_gradient gru_reset_after
// CHECK: %[[DB:.*]] = mtc.reduce add %[[DQ]] axes [0, 1]
// CHECK: return %[[DX]], %{{.*}}, %[[DH]], %[[DB]]
func.func @gru_reset_after(%x: tensor<3x2x6xf64>, %r: tensor<6x2xf64>, %h0: tensor<2x2xf64>, %b: tensor<2xf64>)
    -> tensor<3x2x2xf64> {
  %a, %h, %m = mtc.recurrence gru_reset_after %x, %r from %h0 bias %b reversed
    : (tensor<3x2x6xf64>, tensor<6x2xf64>, tensor<2x2xf64>, tensor<2xf64>)
      -> (tensor<3x2x6xf64>, tensor<3x2x2xf64>, tensor<3x2x2xf64>)
  return %h : tensor<3x2x2xf64>
}

// With one step, the only previous state is the initial one.
func.func @tanh(%x: tensor<1x2x2xf64>, %r: tensor<2x2xf64>, %h0: tensor<2x2xf64>) -> tensor<1x2x2xf64> {
  %a, %h = mtc.recurrence tanh %x, %r from %h0
    : (tensor<1x2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) -> (tensor<1x2x2xf64>, tensor<1x2x2xf64>)
  return %h : tensor<1x2x2xf64>
}

func.func @relu(%x: tensor<3x2x2xf64>, %r: tensor<2x2xf64>, %h0: tensor<2x2xf64>) -> tensor<3x2x2xf64> {
  %a, %h = mtc.recurrence relu %x, %r from %h0
    : (tensor<3x2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) -> (tensor<3x2x2xf64>, tensor<3x2x2xf64>)
  return %h : tensor<3x2x2xf64>
}

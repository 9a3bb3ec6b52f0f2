// The gradients are contractions of the cotangent with the other operand, in the order that needs no transpose.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// y = x w: dx = dy w^T, dw = x^T dy.
// CHECK-LABEL: func.func @matmul_vjp
// CHECK-DAG: mtc.contract %arg2, %arg1 batch [] x [] over [1] x [1] : tensor<2x4xf64>, tensor<3x4xf64> -> tensor<2x3xf64>
// CHECK-DAG: mtc.contract %arg0, %arg2 batch [] x [] over [0] x [0] : tensor<2x3xf64>, tensor<2x4xf64> -> tensor<3x4xf64>
// CHECK-NOT: mtc.transpose
// CHECK: return
func.func @matmul(%x: tensor<2x3xf64>, %w: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<2x3xf64>, tensor<3x4xf64> -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// y = x w^T: dx = dy w, dw = dy^T x.
// CHECK-LABEL: func.func @linear_vjp
// CHECK-DAG: mtc.contract %arg2, %arg1 batch [] x [] over [1] x [0] : tensor<2x4xf64>, tensor<4x3xf64> -> tensor<2x3xf64>
// CHECK-DAG: mtc.contract %arg2, %arg0 batch [] x [] over [0] x [0] : tensor<2x4xf64>, tensor<2x3xf64> -> tensor<4x3xf64>
// CHECK-NOT: mtc.transpose
// CHECK: return
func.func @linear(%x: tensor<2x3xf64>, %w: tensor<4x3xf64>) -> tensor<2x4xf64> {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<2x3xf64>, tensor<4x3xf64> -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// A weight shared by batch and time is contracted over both.
// CHECK-LABEL: func.func @sequence_vjp
// CHECK: mtc.contract %{{.*}}, %{{.*}} batch [] x [] over [0, 1] x [0, 1] : {{.*}} -> tensor<4x3xf64>
// CHECK-NOT: mtc.transpose
// CHECK: return
func.func @sequence(%x: tensor<2x5x3xf64>, %w: tensor<4x3xf64>) -> tensor<2x5x4xf64> {
  %y = mtc.contract %x, %w batch [] x [] over [2] x [1] : tensor<2x5x3xf64>, tensor<4x3xf64> -> tensor<2x5x4xf64>
  return %y : tensor<2x5x4xf64>
}

func.func @batch(%x: tensor<2x3x4xf64>, %w: tensor<2x4x5xf64>) -> tensor<2x3x5xf64> {
  %y = mtc.contract %x, %w batch [0] x [0] over [2] x [1] : tensor<2x3x4xf64>, tensor<2x4x5xf64> -> tensor<2x3x5xf64>
  return %y : tensor<2x3x5xf64>
}

// The axes have every order.
func.func @any_order(%x: tensor<3x2x4x2x3xf64>, %w: tensor<3x4x3x2x2xf64>) -> tensor<3x2x2x2xf64> {
  %y = mtc.contract %x, %w batch [4] x [2] over [2, 0] x [1, 0]
         : tensor<3x2x4x2x3xf64>, tensor<3x4x3x2x2xf64> -> tensor<3x2x2x2x2xf64>
  %z = mtc.reduce add %y axes [4] : tensor<3x2x2x2x2xf64> -> tensor<3x2x2x2xf64>
  return %z : tensor<3x2x2x2xf64>
}

func.func @exchanged(%x: tensor<3x4x2xf64>, %w: tensor<2x4x3xf64>) -> tensor<4x4xf64> {
  %y = mtc.contract %x, %w batch [] x [] over [0, 2] x [2, 0] : tensor<3x4x2xf64>, tensor<2x4x3xf64> -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}

func.func @two_batches(%x: tensor<2x3x4xf64>, %w: tensor<3x5x2xf64>) -> tensor<3x2x4x5xf64> {
  %y = mtc.contract %x, %w batch [1, 0] x [0, 2] over [] x [] : tensor<2x3x4xf64>, tensor<3x5x2xf64> -> tensor<3x2x4x5xf64>
  return %y : tensor<3x2x4x5xf64>
}

func.func @dot(%x: tensor<3xf64>, %w: tensor<3xf64>) -> tensor<f64> {
  %y = mtc.contract %x, %w batch [] x [] over [0] x [0] : tensor<3xf64>, tensor<3xf64> -> tensor<f64>
  return %y : tensor<f64>
}

func.func @square(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %y = mtc.contract %x, %x batch [] x [] over [1] x [0] : tensor<3x3xf64>, tensor<3x3xf64> -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

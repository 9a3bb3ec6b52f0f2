// The cotangent is reshaped back.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @reshape_vjp
// CHECK: mtc.reshape %{{.*}} : tensor<3x4xf64> -> tensor<2x6xf64>
func.func @reshape(%x: tensor<2x6xf64>) -> tensor<3x4xf64> {
  %y = mtc.reshape %x : tensor<2x6xf64> -> tensor<3x4xf64>
  %z = mtc.mul %y, %y : tensor<3x4xf64>
  return %z : tensor<3x4xf64>
}

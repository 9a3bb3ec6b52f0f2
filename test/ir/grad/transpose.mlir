// The cotangent is permuted back.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @transpose_vjp
// CHECK-NEXT: mtc.transpose %arg1 [2, 0, 1] : tensor<3x4x2xf64> -> tensor<2x3x4xf64>
func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<3x4x2xf64> {
  %y = mtc.transpose %x [1, 2, 0] : tensor<2x3x4xf64> -> tensor<3x4x2xf64>
  return %y : tensor<3x4x2xf64>
}

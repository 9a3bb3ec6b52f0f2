// The cotangent is reversed back.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @reverse_vjp
// CHECK-NEXT: mtc.reverse %arg1 axes [1] : tensor<2x3xf64>
func.func @reverse(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = mtc.reverse %x axes [1] : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

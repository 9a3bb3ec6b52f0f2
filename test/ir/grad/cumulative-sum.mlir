// The gradient is the sum from the other end.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @forward_vjp
// CHECK-NEXT: mtc.cumulative_sum %arg1 axis 1 reverse : tensor<2x3xf64>
func.func @forward(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = mtc.cumulative_sum %x axis 1 : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @exclusive_reverse_vjp
// CHECK-NEXT: mtc.cumulative_sum %arg1 axis 0 exclusive : tensor<2x3xf64>
func.func @exclusive_reverse(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = mtc.cumulative_sum %x axis 0 exclusive reverse : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

// Each operand receives its part of the cotangent. An operand that occurs twice receives the sum.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @concatenate_vjp
// CHECK-DAG: mtc.slice %arg2 offsets [0, 0] strides [1, 1] : tensor<2x4xf64> -> tensor<2x1xf64>
// CHECK-DAG: mtc.slice %arg2 offsets [0, 1] strides [1, 1] : tensor<2x4xf64> -> tensor<2x3xf64>
func.func @concatenate(%a: tensor<2x1xf64>, %b: tensor<2x3xf64>) -> tensor<2x4xf64> {
  %y = mtc.concatenate %a, %b axis 1 : (tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// CHECK-LABEL: func.func @twice_vjp
// CHECK: mtc.add
func.func @twice(%a: tensor<3xf64>) -> tensor<6xf64> {
  %y = mtc.concatenate %a, %a axis 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>
  return %y : tensor<6xf64>
}

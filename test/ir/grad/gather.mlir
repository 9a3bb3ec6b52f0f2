// The cotangent is scattered by index: repeated indices are summed.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @gather_vjp
// CHECK-NEXT: mtc.scatter_add %arg2, %arg1 axis 0 batch 0 : tensor<4x3xf64>, tensor<4xi64> -> tensor<5x3xf64>
func.func @gather(%x: tensor<5x3xf64>, %i: tensor<4xi64>) -> tensor<4x3xf64> {
  %y = mtc.gather %x, %i axis 0 batch 0 : tensor<5x3xf64>, tensor<4xi64> -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}
// given @gather a1 = [1, 1, -1, 0]

func.func @batch(%x: tensor<2x2x5xf64>, %i: tensor<2x3xi64>) -> tensor<2x2x3xf64> {
  %y = mtc.gather %x, %i axis 2 batch 1 : tensor<2x2x5xf64>, tensor<2x3xi64> -> tensor<2x2x3xf64>
  return %y : tensor<2x2x3xf64>
}
// given @batch a1 = [[0, 4, 4], [-5, 1, 2]]

func.func @one_each(%x: tensor<3x5xf64>, %i: tensor<3xi64>) -> tensor<3xf64> {
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<3x5xf64>, tensor<3xi64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @one_each a1 = [0, 4, 2]

func.func @known(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %i = mtc.constant dense<-2> : tensor<i64>
  %y = mtc.gather %x, %i axis 1 batch 0 : tensor<3x5xf64>, tensor<i64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}

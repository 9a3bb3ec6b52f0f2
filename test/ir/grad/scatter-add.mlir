// The cotangent is gathered by index.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @scatter_add_vjp
// CHECK-NEXT: mtc.gather %arg2, %arg1 axis 0 batch 0 : tensor<5x3xf64>, tensor<4xi64> -> tensor<4x3xf64>
func.func @scatter_add(%u: tensor<4x3xf64>, %i: tensor<4xi64>) -> tensor<5x3xf64> {
  %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<4x3xf64>, tensor<4xi64> -> tensor<5x3xf64>
  return %y : tensor<5x3xf64>
}
// given @scatter_add a1 = [1, 1, -1, 0]

func.func @batch(%u: tensor<2x2x3xf64>, %i: tensor<2x3xi64>) -> tensor<2x2x5xf64> {
  %y = mtc.scatter_add %u, %i axis 2 batch 1 : tensor<2x2x3xf64>, tensor<2x3xi64> -> tensor<2x2x5xf64>
  return %y : tensor<2x2x5xf64>
}
// given @batch a1 = [[0, 4, 4], [-5, 1, 2]]

// The initial tensor's gradient is the cotangent.
// CHECK-LABEL: func.func @onto_vjp
// CHECK: return %{{.*}}, %arg3 : tensor<4x3xf64>, tensor<5x3xf64>
func.func @onto(%u: tensor<4x3xf64>, %i: tensor<4xi64>, %b: tensor<5x3xf64>) -> tensor<5x3xf64> {
  %y = mtc.scatter_add %u, %i axis 0 batch 0 onto %b : tensor<5x3xf64> : tensor<4x3xf64>, tensor<4xi64> -> tensor<5x3xf64>
  return %y : tensor<5x3xf64>
}
// given @onto a1 = [1, 1, -1, 0]

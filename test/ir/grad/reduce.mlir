// Sums broadcast the cotangent, the gradient of `mul` is exact if factors are zero, and equal extrema share the cotangent.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @add_vjp
// CHECK-NEXT: mtc.broadcast %arg1 axes [0, 2] : tensor<3xf64> -> tensor<2x3x4xf64>
func.func @add(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %y = mtc.reduce add %x axes [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @mul(%x: tensor<2x3xf64>) -> tensor<2xf64> {
  %y = mtc.reduce mul %x axes [1] : tensor<2x3xf64> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// The rows have no zero, one zero and two zeros. Differences are exact because the result is a polynomial of each element.
func.func @mul_zeros(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %y = mtc.reduce mul %x axes [1] : tensor<3x3xf64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @mul_zeros a0 = [[2, 3, 4], [2, 0, 4], [0, 3, 0]]

// CHECK-LABEL: func.func @max_vjp
// CHECK: mtc.compare eq
// CHECK: mtc.reduce add
// CHECK: mtc.select
func.func @max(%x: tensor<2x3xf64>) -> tensor<2xf64> {
  %y = mtc.reduce max %x axes [1] : tensor<2x3xf64> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @min(%x: tensor<2x3xf64>) -> tensor<3xf64> {
  %y = mtc.reduce min %x axes [0] : tensor<2x3xf64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}

// Equal extrema share the cotangent equally, including infinite ones; a row with NaN has no extremum.
func.func @max_ties(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %y = mtc.reduce max %x axes [1] : tensor<3x3xf64> -> tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @max_ties a0 = [[7, 7, 1], [-inf, -inf, -inf], [nan, 1, 2]]
// given @max_ties_vjp a1 = [6, 6, 6]
// expect @max_ties_vjp = np.array([[3, 3, 0], [2, 2, 2], [0, 0, 0]])

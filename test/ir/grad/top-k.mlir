// The cotangent of the values is scattered to their original positions.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @largest_vjp
// CHECK: %[[V:.*]], %[[I:.*]] = mtc.top_k %arg0
// CHECK: mtc.scatter_add %arg1, %[[I]] axis 1 batch 1 : tensor<2x2xf64>, tensor<2x2xi64> -> tensor<2x5xf64>
func.func @largest(%x: tensor<2x5xf64>) -> tensor<2x2xf64> {
  %v, %i = mtc.top_k %x : tensor<2x5xf64> -> tensor<2x2xf64>, tensor<2x2xi64>
  return %v : tensor<2x2xf64>
}

func.func @smallest(%x: tensor<5xf64>) -> tensor<5xf64> {
  %v, %i = mtc.top_k %x smallest : tensor<5xf64> -> tensor<5xf64>, tensor<5xi64>
  return %v : tensor<5xf64>
}

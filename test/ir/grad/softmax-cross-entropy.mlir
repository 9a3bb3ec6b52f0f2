// The gradient is softmax minus one-hot, computed from the maximum and the logarithm of a row that the loss has stored. It is zero for
// ignored rows.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mtc-fuse-kernels -canonicalize -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @loss_vjp
// CHECK-NOT: mtc.gather
// CHECK: mtc.iota 1 : tensor<3x4xi32>
// CHECK-NOT: mtc.gather
// CHECK: return
func.func @loss(%z: tensor<3x4xf64>, %t: tensor<3xi64>) -> tensor<3xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<3x4xf64>, tensor<3xi64> -> tensor<3xf64>
  return %l : tensor<3xf64>
}
// given @loss a1 = [3, -100, 0]

func.func @no_ignored(%z: tensor<2x4xf64>, %t: tensor<2xui8>) -> tensor<2xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<2x4xf64>, tensor<2xui8> -> tensor<2xf64>
  return %l : tensor<2xf64>
}
// given @no_ignored a1 = [3, 1]

// The maximum and the logarithm are stored separately for the precision of large logits.
func.func @large(%z: tensor<1x3xf32>, %t: tensor<1xi32>) -> tensor<1xf32> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -1 : tensor<1x3xf32>, tensor<1xi32> -> tensor<1xf32>
  return %l : tensor<1xf32>
}
// given @large a0 = [[10000, 10000, -10000]]
// given @large a1 = [0]
// given @large_vjp a2 = [1]
// expect @large = np.array([0.6931472])
// expect @large_vjp = np.array([[-0.5, 0.5, 0]])

// The k largest and the k smallest elements: equal elements keep their order, and NaN is the largest.
// RUN: mtc-opt %s -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s
// RUN: mtc-opt %s -mtc-decompose -canonicalize -cse -mtc-form-kernels -mtc-fuse-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

func.func @largest(%x: tensor<2x4xf64>) -> (tensor<2x3xf64>, tensor<2x3xi64>) {
  %v, %i = mtc.top_k %x : tensor<2x4xf64> -> tensor<2x3xf64>, tensor<2x3xi64>
  return %v, %i : tensor<2x3xf64>, tensor<2x3xi64>
}
// given @largest a0 = [[3, 5, 5, -inf], [1, nan, 2, nan]]
// expect @largest = np.array([[5, 5, 3], [nan, nan, 2]]), np.array([[1, 2, 0], [1, 3, 2]])

func.func @smallest(%x: tensor<2x4xf64>) -> (tensor<2x3xf64>, tensor<2x3xi32>) {
  %v, %i = mtc.top_k %x smallest : tensor<2x4xf64> -> tensor<2x3xf64>, tensor<2x3xi32>
  return %v, %i : tensor<2x3xf64>, tensor<2x3xi32>
}
// given @smallest a0 = [[3, 5, 5, 3], [nan, nan, 2, 1]]
// expect @smallest = np.array([[3, 3, 5], [1, 2, nan]]), np.array([[0, 3, 1], [3, 2, 0]])

func.func @integers(%x: tensor<5xui8>) -> (tensor<2xui8>, tensor<2xi64>) {
  %v, %i = mtc.top_k %x : tensor<5xui8> -> tensor<2xui8>, tensor<2xi64>
  return %v, %i : tensor<2xui8>, tensor<2xi64>
}
// given @integers a0 = [1, -1, 3, -1, 2]
// expect @integers = np.array([-1, -1]), np.array([1, 3])

// Softmax cross-entropy in decomposed form.
// RUN: mtc-opt %s -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s
// RUN: mtc-opt %s -mtc-decompose -canonicalize -cse -mtc-form-kernels -mtc-fuse-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

func.func @loss(%z: tensor<2x2x3xf64>, %t: tensor<2x2xi64>) -> tensor<2x2xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<2x2x3xf64>, tensor<2x2xi64> -> tensor<2x2xf64>
  return %l : tensor<2x2xf64>
}
// given @loss a1 = [[2, -100], [0, 1]]
// expect @loss = np.where(a1 == -100, 0, np.log(np.exp(a0).sum(2)) - np.take_along_axis(a0, np.maximum(a1, 0)[:, :, None], 2)[:, :, 0])

// Large logits do not overflow.
func.func @large(%z: tensor<1x3xf32>, %t: tensor<1xi32>) -> tensor<1xf32> {
  %l = mtc.softmax_cross_entropy %z, %t ignore 7 : tensor<1x3xf32>, tensor<1xi32> -> tensor<1xf32>
  return %l : tensor<1xf32>
}
// given @large a0 = [[10000, 10000, -10000]]
// given @large a1 = [0]
// expect @large = np.array([0.6931472])

// -100 is not a value of an unsigned byte, so every label is valid, even 156.
func.func @unsigned(%z: tensor<2x200xf64>, %t: tensor<2xui8>) -> tensor<2xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<2x200xf64>, tensor<2xui8> -> tensor<2xf64>
  return %l : tensor<2xf64>
}
// given @unsigned a1 = [156 - 256, 3]
// expect @unsigned = np.log(np.exp(a0).sum(1)) - a0[[0, 1], [156, 3]]

// Unlike indices, labels do not count from the end.
func.func @negative(%z: tensor<2x3xf64>, %t: tensor<2xi64>) -> tensor<2xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<2x3xf64>, tensor<2xi64> -> tensor<2xf64>
  return %l : tensor<2xf64>
}
// given @negative a1 = [0, -1]
// fault @negative

func.func @outside(%z: tensor<2x3xf64>, %t: tensor<2xi64>) -> tensor<2xf64> {
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<2x3xf64>, tensor<2xi64> -> tensor<2xf64>
  return %l : tensor<2xf64>
}
// given @outside a1 = [0, 3]
// fault @outside

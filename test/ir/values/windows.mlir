// Values of window kernels.
// RUN: mtc-opt %s -mtc-form-kernels -mlir-print-local-scope | %python %support/interpret.py %s

func.func @windows(%x: tensor<2x9x8xf32>) -> tensor<2x3x3x3x2xf32> {
  %y = mtc.windows %x axes [1, 2] strides [2, 2] dilations [2, 3] : tensor<2x9x8xf32> -> tensor<2x3x3x3x2xf32>
  return %y : tensor<2x3x3x3x2xf32>
}
// expect @windows = np.array([[[[[[x[2*o+2*k, 2*p+3*l] for l in range(2)] for k in range(3)] for p in range(3)] for o in range(3)]] for x in a0])[:, 0]

func.func @windows_of_integers(%x: tensor<5xi64>) -> tensor<3x3xi64> {
  %y = mtc.windows %x axes [0] strides [1] dilations [1] : tensor<5xi64> -> tensor<3x3xi64>
  return %y : tensor<3x3xi64>
}
// given @windows_of_integers a0 = [1, 2, 3, 4, 5]
// expect @windows_of_integers = np.array([[1, 2, 3], [2, 3, 4], [3, 4, 5]])

func.func @overlap_add(%y: tensor<3x3xi64>) -> tensor<5xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [0] strides [1] dilations [1] : tensor<3x3xi64> -> tensor<5xi64>
  return %x : tensor<5xi64>
}
// given @overlap_add a0 = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
// expect @overlap_add = np.array([1, 12, 123, 230, 300])

func.func @cut(%y: tensor<3x3xi64>) -> tensor<3xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [1] strides [1] dilations [1] : tensor<3x3xi64> -> tensor<3xi64>
  return %x : tensor<3xi64>
}
// given @cut a0 = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
// expect @cut = np.array([12, 123, 230])

func.func @strided(%y: tensor<3x3xi64>) -> tensor<9xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [0] strides [2] dilations [1] : tensor<3x3xi64> -> tensor<9xi64>
  return %x : tensor<9xi64>
}
// given @strided a0 = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
// expect @strided = np.array([1, 2, 13, 20, 130, 200, 300, 0, 0])

// With stride 3 and dilation 2, no two windows share an element.
func.func @coprime(%y: tensor<2x3xi64>) -> tensor<8xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [0] strides [3] dilations [2] : tensor<2x3xi64> -> tensor<8xi64>
  return %x : tensor<8xi64>
}
// given @coprime a0 = [[1, 2, 3], [10, 20, 30]]
// expect @coprime = np.array([1, 0, 2, 10, 3, 20, 0, 30])

// With stride 4 and dilation 6, windows contain only even positions.
func.func @common_divisor(%y: tensor<3x3xi64>) -> tensor<21xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [0] strides [4] dilations [6] : tensor<3x3xi64> -> tensor<21xi64>
  return %x : tensor<21xi64>
}
// given @common_divisor a0 = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
// expect @common_divisor = np.array([1, 0, 0, 0, 10, 0, 2, 0, 100, 0, 20, 0, 3, 0, 200, 0, 30, 0, 0, 0, 300])

func.func @two_axes(%y: tensor<2x2x2x2x3xf32>) -> tensor<2x3x5xf32> {
  %x = mtc.overlap_add %y axes [1, 2] offsets [0, 0] strides [1, 2] dilations [1, 1] : tensor<2x2x2x2x3xf32> -> tensor<2x3x5xf32>
  return %x : tensor<2x3x5xf32>
}
// expect @two_axes = [x := np.zeros((2, 3, 5)), [np.add.at(x, (slice(None), o + k, 2*p + l), a0[:, o, p, k, l]) for o in range(2) for p in range(2) for k in range(2) for l in range(3)]][0]

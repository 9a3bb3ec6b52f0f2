// Values of elementwise kernels, with signed and unsigned integers, NaN and infinities.
// RUN: mtc-opt %s -mtc-form-kernels -mlir-print-local-scope | %python %support/interpret.py %s

func.func @compare_nan(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %x = mtc.compare eq %a, %b : tensor<2xf32> -> tensor<2xi1>
  %y = mtc.compare ne %a, %b : tensor<2xf32> -> tensor<2xi1>
  %z = mtc.compare le %a, %b : tensor<2xf32> -> tensor<2xi1>
  return %x, %y, %z : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}
// given @compare_nan a0 = [nan, 1]
// given @compare_nan a1 = [nan, 1]
// expect @compare_nan = np.array([False, True]), np.array([True, False]), np.array([False, True])

// As an unsigned number, 255 is greater than 1. As a signed number, -1 is less.
func.func @compare_signs(%u: tensor<1xui8>, %v: tensor<1xui8>, %s: tensor<1xi8>, %t: tensor<1xi8>) -> (tensor<1xi1>, tensor<1xi1>) {
  %x = mtc.compare gt %u, %v : tensor<1xui8> -> tensor<1xi1>
  %y = mtc.compare gt %s, %t : tensor<1xi8> -> tensor<1xi1>
  return %x, %y : tensor<1xi1>, tensor<1xi1>
}
// given @compare_signs a0 = [-1]
// given @compare_signs a1 = [1]
// given @compare_signs a2 = [-1]
// given @compare_signs a3 = [1]
// expect @compare_signs = np.array([True]), np.array([False])

func.func @extrema(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %x = mtc.max %a, %b : tensor<3xf32>
  %y = mtc.min %a, %b : tensor<3xf32>
  return %x, %y : tensor<3xf32>, tensor<3xf32>
}
// given @extrema a0 = [nan, 1, -inf]
// given @extrema a1 = [1, nan, 2]
// expect @extrema = np.array([nan, nan, 2]), np.array([nan, nan, -inf])

func.func @sign(%x: tensor<4xf32>, %n: tensor<3xi32>, %u: tensor<2xui8>) -> (tensor<4xf32>, tensor<3xi32>, tensor<2xui8>) {
  %y = mtc.sign %x : tensor<4xf32>
  %m = mtc.sign %n : tensor<3xi32>
  %v = mtc.sign %u : tensor<2xui8>
  return %y, %m, %v : tensor<4xf32>, tensor<3xi32>, tensor<2xui8>
}
// given @sign a0 = [-2, 0, 3, nan]
// given @sign a1 = [-2, 0, 3]
// given @sign a2 = [-1, 0]
// expect @sign = np.array([-1, 0, 1, nan]), np.array([-1, 0, 1]), np.array([1, 0])

// Bitwise operations. A shift by at least as many bits as the type has returns 0, and -1 is a shift by 255.
func.func @bits(%a: tensor<4xi8>, %b: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %and = mtc.and %a, %b : tensor<4xi8>
  %or = mtc.or %a, %b : tensor<4xi8>
  %xor = mtc.xor %a, %b : tensor<4xi8>
  %not = mtc.not %a : tensor<4xi8>
  return %and, %or, %xor, %not : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}
// given @bits a0 = [12, -1, 0, 85]
// given @bits a1 = [10, 7, 0, -86]
// expect @bits = np.array([8, 7, 0, 0]), np.array([14, -1, 0, -1]), np.array([6, -8, 0, -1]), np.array([-13, 0, -1, -86])

func.func @shifts(%a: tensor<4xi8>, %b: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %left = mtc.shift_left %a, %b : tensor<4xi8>
  %right = mtc.shift_right %a, %b : tensor<4xi8>
  return %left, %right : tensor<4xi8>, tensor<4xi8>
}
// given @shifts a0 = [3, -1, 5, 5]
// given @shifts a1 = [2, 7, 8, -1]
// expect @shifts = np.array([12, -128, 0, 0]), np.array([0, 1, 0, 0])

func.func @casts(%x: tensor<3xf32>, %u: tensor<2xui8>, %c: tensor<2xi1>, %n: tensor<2xi64>)
    -> (tensor<3xi32>, tensor<3xi1>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>) {
  %a = mtc.cast %x : tensor<3xf32> -> tensor<3xi32>
  %b = mtc.cast %x : tensor<3xf32> -> tensor<3xi1>
  %d = mtc.cast %u : tensor<2xui8> -> tensor<2xi32>
  %e = mtc.cast %u : tensor<2xui8> -> tensor<2xf32>
  %f = mtc.cast %c : tensor<2xi1> -> tensor<2xf32>
  %g = mtc.cast %n : tensor<2xi64> -> tensor<2xi8>
  return %a, %b, %d, %e, %f, %g : tensor<3xi32>, tensor<3xi1>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>
}
// given @casts a0 = [-1.7, 0, 2.9]
// given @casts a1 = [-1, 3]
// given @casts a2 = [True, False]
// given @casts a3 = [257, -1]
// expect @casts = np.array([-1, 0, 2]), np.array([True, False, True]), np.array([255, 3]), np.array([255, 3]), np.array([1, 0]), np.array([1, -1])

func.func @remainder(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = mtc.rem %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
// given @remainder a0 = [5, -5, 5, -5]
// given @remainder a1 = [3, 3, -3, -3]
// expect @remainder = np.array([2, -2, 2, -2])

func.func @logical(%a: tensor<4xi1>, %b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %x = mtc.and %a, %b : tensor<4xi1>
  %y = mtc.or %a, %b : tensor<4xi1>
  %z = mtc.xor %a, %b : tensor<4xi1>
  %n = mtc.not %a : tensor<4xi1>
  return %x, %y, %z, %n : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
// given @logical a0 = [False, False, True, True]
// given @logical a1 = [False, True, False, True]
// expect @logical = a0 & a1, a0 | a1, a0 ^ a1, ~a0

// Halves are rounded to the even neighbor.
func.func @rounding(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = mtc.round %x : tensor<4xf32>
  %b = mtc.floor %x : tensor<4xf32>
  %c = mtc.ceil %x : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// given @rounding a0 = [0.5, 1.5, -0.5, -1.2]
// expect @rounding = np.array([0, 2, 0, -1]), np.array([0, 1, -1, -2]), np.array([1, 2, 0, -1])

// A splat is a scalar of the kernel, a scalar tensor a kernel with one iteration.
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %c = mtc.constant dense<2.0> : tensor<f32>
  %y = mtc.mul %x, %c : tensor<f32>
  return %y : tensor<f32>
}
// expect @scalar = 2 * a0

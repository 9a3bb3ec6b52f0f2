// Values of kernels of reductions, contractions, prefix sums and random bits.
// RUN: mtc-opt %s -mtc-form-kernels -mlir-print-local-scope | %python %support/interpret.py %s

func.func @reduce(%x: tensor<4x3x5xf64>) -> (tensor<4x3xf64>, tensor<3x5xf64>, tensor<3xf64>, tensor<f64>) {
  %a = mtc.reduce add %x axes [2] : tensor<4x3x5xf64> -> tensor<4x3xf64>
  %b = mtc.reduce mul %x axes [0] : tensor<4x3x5xf64> -> tensor<3x5xf64>
  %c = mtc.reduce max %x axes [0, 2] : tensor<4x3x5xf64> -> tensor<3xf64>
  %d = mtc.reduce min %x axes [0, 1, 2] : tensor<4x3x5xf64> -> tensor<f64>
  return %a, %b, %c, %d : tensor<4x3xf64>, tensor<3x5xf64>, tensor<3xf64>, tensor<f64>
}
// expect @reduce = a0.sum(2), a0.prod(0), a0.max((0, 2)), a0.min()

func.func @reduce_nan(%x: tensor<3xf32>) -> tensor<f32> {
  %a = mtc.reduce max %x axes [0] : tensor<3xf32> -> tensor<f32>
  return %a : tensor<f32>
}
// given @reduce_nan a0 = [1, nan, 2]
// expect @reduce_nan = np.float32(nan)

func.func @reduce_integers(%x: tensor<3xui8>, %y: tensor<3xi8>, %m: tensor<3xi1>) -> (tensor<ui8>, tensor<i8>, tensor<i1>, tensor<i1>) {
  %a = mtc.reduce max %x axes [0] : tensor<3xui8> -> tensor<ui8>
  %b = mtc.reduce max %y axes [0] : tensor<3xi8> -> tensor<i8>
  %c = mtc.reduce and %m axes [0] : tensor<3xi1> -> tensor<i1>
  %d = mtc.reduce or %m axes [0] : tensor<3xi1> -> tensor<i1>
  return %a, %b, %c, %d : tensor<ui8>, tensor<i8>, tensor<i1>, tensor<i1>
}
// 255 and -1 have the same byte.
// given @reduce_integers a0 = [1, -1, 2]
// given @reduce_integers a1 = [1, -1, 2]
// given @reduce_integers a2 = [True, False, True]
// expect @reduce_integers = np.int8(-1), np.int8(2), np.bool_(False), np.bool_(True)

func.func @contract(%a: tensor<4x2x3xf64>, %b: tensor<5x3x4xf64>) -> tensor<4x2x5xf64> {
  %y = mtc.contract %a, %b batch [0] x [2] over [2] x [1] : tensor<4x2x3xf64>, tensor<5x3x4xf64> -> tensor<4x2x5xf64>
  return %y : tensor<4x2x5xf64>
}
// expect @contract = np.einsum("bmk,nkb->bmn", a0, a1)

func.func @contract_two(%a: tensor<2x3x4xi32>, %b: tensor<4x5x2xi32>) -> tensor<3x5xi32> {
  %y = mtc.contract %a, %b batch [] x [] over [0, 2] x [2, 0] : tensor<2x3x4xi32>, tensor<4x5x2xi32> -> tensor<3x5xi32>
  return %y : tensor<3x5xi32>
}
// given @contract_two a0 = np.arange(24)
// given @contract_two a1 = np.arange(40)
// expect @contract_two = np.einsum("imk,kni->mn", a0, a1)

func.func @outer(%a: tensor<2xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = mtc.contract %a, %b batch [] x [] over [] x [] : tensor<2xf64>, tensor<3xf64> -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
// expect @outer = np.outer(a0, a1)

func.func @cumulative_sum(%x: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x3xf64>) {
  %a = mtc.cumulative_sum %x axis 1 : tensor<2x4x3xf64>
  %b = mtc.cumulative_sum %x axis 1 exclusive : tensor<2x4x3xf64>
  %c = mtc.cumulative_sum %x axis 1 reverse : tensor<2x4x3xf64>
  %d = mtc.cumulative_sum %x axis 1 exclusive reverse : tensor<2x4x3xf64>
  return %a, %b, %c, %d : tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x3xf64>
}
// expect @cumulative_sum = a0.cumsum(1), a0.cumsum(1) - a0, a0.sum(1, keepdims=True) - a0.cumsum(1) + a0, a0.sum(1, keepdims=True) - a0.cumsum(1)

// The known answer of Philox4x32-10 for counter and key 0 is 6627e8d5.
func.func @random_zero() -> tensor<1xi32> {
  %zero = mtc.constant dense<0> : tensor<i64>
  %y = mtc.random_bits %zero, %zero stream 0 : (tensor<i64>, tensor<i64>) -> tensor<1xi32>
  return %y : tensor<1xi32>
}
// expect @random_zero = np.array([0x6627e8d5])

func.func @random_bits(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<2x3xi32> {
  %y = mtc.random_bits %seed, %step stream 4000000000 : (tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}
// given @random_bits a0 = 0x123456789abcdef0
// given @random_bits a1 = 0x500000007
// expect @random_bits = philox(0x123456789abcdef0, 0x500000007, 4000000000, 6).reshape(2, 3)

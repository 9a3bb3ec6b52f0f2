// The gradient rules of ElementwiseOps.td are checked at smooth and at singular points.
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

func.func @neg(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.neg %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @abs(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.abs %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @abs_at_zero(%x: tensor<1xf64>) -> tensor<1xf64> {
  %y = mtc.abs %x : tensor<1xf64>
  return %y : tensor<1xf64>
}
// given @abs_at_zero a0 = [0]
// expect @abs_at_zero_vjp = np.array([0])
func.func @exp(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.exp %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @expm1(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.expm1 %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @log(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.log %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @log a0 = [0.5, 1, 3]
func.func @log1p(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.log1p %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @log1p a0 = [-0.5, 0, 3]
func.func @sqrt(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.sqrt %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @sqrt a0 = [0.5, 1, 3]
func.func @sqrt_at_zero(%x: tensor<1xf64>) -> tensor<1xf64> {
  %y = mtc.sqrt %x : tensor<1xf64>
  return %y : tensor<1xf64>
}
// given @sqrt_at_zero a0 = [0]
// given @sqrt_at_zero_vjp a1 = [1]
// expect @sqrt_at_zero_vjp = np.array([inf])
func.func @rsqrt(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.rsqrt %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @rsqrt a0 = [0.5, 1, 3]
func.func @tanh(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.tanh %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @logistic(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.logistic %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @logistic_far(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = mtc.logistic %x : tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @logistic_far a0 = [-2000, 2000]
// expect @logistic_far = np.array([0, 1])
// expect @logistic_far_vjp = np.array([0, 0])
func.func @erf(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.erf %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @sin(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.sin %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @cos(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.cos %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @asin(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.asin %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @asin a0 = [-0.9, 0, 0.8]
func.func @asin_at_one(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = mtc.asin %x : tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @asin_at_one a0 = [1, -1]
// given @asin_at_one_vjp a1 = [1, 1]
// expect @asin_at_one_vjp = np.array([inf, inf])
func.func @acos(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.acos %x : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @acos a0 = [-0.8, 0, 0.9]
func.func @acos_at_one(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = mtc.acos %x : tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @acos_at_one a0 = [1, -1]
// given @acos_at_one_vjp a1 = [1, 1]
// expect @acos_at_one_vjp = np.array([-inf, -inf])
func.func @atan(%x: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.atan %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @flat(%x: tensor<5xf64>) -> tensor<5xf64> {
  %a = mtc.floor %x : tensor<5xf64>
  %b = mtc.ceil %x : tensor<5xf64>
  %c = mtc.round %x : tensor<5xf64>
  %d = mtc.sign %x : tensor<5xf64>
  %ab = mtc.add %a, %b : tensor<5xf64>
  %cd = mtc.add %c, %d : tensor<5xf64>
  %y = mtc.add %ab, %cd : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @detach(%x: tensor<5xf64>) -> tensor<5xf64> {
  %d = mtc.detach %x : tensor<5xf64>
  %y = mtc.mul %d, %x : tensor<5xf64>
  return %y : tensor<5xf64>
}
// Only the second factor has a gradient.
// expect @detach_vjp = a1 * a0
func.func @cast(%x: tensor<5xf32>) -> tensor<5xf64> {
  %y = mtc.cast %x : tensor<5xf32> -> tensor<5xf64>
  return %y : tensor<5xf64>
}
// expect @cast_vjp = a1.astype(np.float32)

func.func @add(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.add %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @sub(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.sub %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @mul(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.mul %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @div(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.div %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @rem(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
  %y = mtc.rem %a, %b : tensor<4xf64>
  return %y : tensor<4xf64>
}
// given @rem a0 = [5, -5, 5, -5]
// given @rem a1 = [1.7, 1.7, -1.7, -1.7]
func.func @max(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.max %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @min(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<5xf64> {
  %y = mtc.min %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}
func.func @max_tie(%a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = mtc.max %a, %b : tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @max_tie a0 = [1, 3]
// given @max_tie a1 = [1, 2]
// given @max_tie_vjp a2 = [4, 4]
// expect @max_tie_vjp = np.array([2, 4]), np.array([2, 0])
func.func @pow(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.pow %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @pow a0 = [0.5, 1, 3]
// given @pow a1 = [2.5, -1, 0.3]
func.func @pow_at_zero(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> {
  %y = mtc.pow %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}
// given @pow_at_zero a0 = [0, 0, 0]
// given @pow_at_zero a1 = [0, 1, 2]
// given @pow_at_zero_vjp a2 = [1, 1, 1]
// expect @pow_at_zero_vjp = np.array([0, 1, 0]), np.array([0, 0, 0])
func.func @select(%c: tensor<2xi1>, %a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = mtc.select %c, %a, %b : tensor<2xi1>, tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @select a0 = [True, False]
// A NaN on the unselected side does not propagate to the gradient.
func.func @select_nan(%x: tensor<2xf64>) -> tensor<2xf64> {
  %zero = mtc.constant dense<0.0> : tensor<2xf64>
  %c = mtc.compare gt %x, %zero : tensor<2xf64> -> tensor<2xi1>
  %l = mtc.log %x : tensor<2xf64>
  %y = mtc.select %c, %l, %zero : tensor<2xi1>, tensor<2xf64>
  return %y : tensor<2xf64>
}
// given @select_nan a0 = [-1, 2]
// given @select_nan_vjp a1 = [1, 1]
// expect @select_nan_vjp = np.array([0, 0.5])

// Values of convolutions in decomposed form. The adjoint operations are compared with the gradients of convolutions.
// RUN: mtc-opt %s -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

func.func @plain(%a: tensor<2x6x5x3xf64>, %b: tensor<4x3x3x2xf64>) -> tensor<2x4x4x4xf64> {
  %r = mtc.convolve %a, %b before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x6x5x3xf64>, tensor<4x3x3x2xf64>) -> tensor<2x4x4x4xf64>
  return %r : tensor<2x4x4x4xf64>
}
// expect @plain = [x := a0.reshape([2, 6, 5, 1, 3]), w := a1.reshape([1, 4, 3, 3, 2]), r := np.zeros([2, 4, 4, 1, 4]), [np.add.at(r, (slice(None), o0, o1), np.einsum('ngc,gmc->ngm', x[:, o0*1+k0*1-0, o1*1+k1*1-0], w[..., k0, k1])) for o0 in range(4) for k0 in range(3) for o1 in range(4) for k1 in range(2) if 0 <= o0*1+k0*1-0 < 6 and 0 <= o1*1+k1*1-0 < 5]][2].reshape([2, 4, 4, 4])

func.func @padded(%a: tensor<2x5x4x3xf64>, %b: tensor<2x3x3x3xf64>) -> tensor<2x3x6x2xf64> {
  %r = mtc.convolve %a, %b before [1, 2] strides [2, 1] dilations [1, 1] : (tensor<2x5x4x3xf64>, tensor<2x3x3x3xf64>) -> tensor<2x3x6x2xf64>
  return %r : tensor<2x3x6x2xf64>
}
// expect @padded = [x := a0.reshape([2, 5, 4, 1, 3]), w := a1.reshape([1, 2, 3, 3, 3]), r := np.zeros([2, 3, 6, 1, 2]), [np.add.at(r, (slice(None), o0, o1), np.einsum('ngc,gmc->ngm', x[:, o0*2+k0*1-1, o1*1+k1*1-2], w[..., k0, k1])) for o0 in range(3) for k0 in range(3) for o1 in range(6) for k1 in range(3) if 0 <= o0*2+k0*1-1 < 5 and 0 <= o1*1+k1*1-2 < 4]][2].reshape([2, 3, 6, 2])

func.func @dilated(%a: tensor<1x9x2xf64>, %b: tensor<3x2x3xf64>) -> tensor<1x4x3xf64> {
  %r = mtc.convolve %a, %b before [1] strides [2] dilations [2] : (tensor<1x9x2xf64>, tensor<3x2x3xf64>) -> tensor<1x4x3xf64>
  return %r : tensor<1x4x3xf64>
}
// expect @dilated = [x := a0.reshape([1, 9, 1, 2]), w := a1.reshape([1, 3, 2, 3]), r := np.zeros([1, 4, 1, 3]), [np.add.at(r, (slice(None), o0), np.einsum('ngc,gmc->ngm', x[:, o0*2+k0*2-1], w[..., k0])) for o0 in range(4) for k0 in range(3) if 0 <= o0*2+k0*2-1 < 9]][2].reshape([1, 4, 3])

func.func @beyond(%a: tensor<2x5x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<2x3x2xf64> {
  %r = mtc.convolve %a, %b before [0] strides [3] dilations [1] : (tensor<2x5x2xf64>, tensor<2x2x2xf64>) -> tensor<2x3x2xf64>
  return %r : tensor<2x3x2xf64>
}
// expect @beyond = [x := a0.reshape([2, 5, 1, 2]), w := a1.reshape([1, 2, 2, 2]), r := np.zeros([2, 3, 1, 2]), [np.add.at(r, (slice(None), o0), np.einsum('ngc,gmc->ngm', x[:, o0*3+k0*1-0], w[..., k0])) for o0 in range(3) for k0 in range(2) if 0 <= o0*3+k0*1-0 < 5]][2].reshape([2, 3, 2])

func.func @unread(%a: tensor<1x9x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<1x2x2xf64> {
  %r = mtc.convolve %a, %b before [0] strides [4] dilations [1] : (tensor<1x9x2xf64>, tensor<2x2x2xf64>) -> tensor<1x2x2xf64>
  return %r : tensor<1x2x2xf64>
}
// expect @unread = [x := a0.reshape([1, 9, 1, 2]), w := a1.reshape([1, 2, 2, 2]), r := np.zeros([1, 2, 1, 2]), [np.add.at(r, (slice(None), o0), np.einsum('ngc,gmc->ngm', x[:, o0*4+k0*1-0], w[..., k0])) for o0 in range(2) for k0 in range(2) if 0 <= o0*4+k0*1-0 < 9]][2].reshape([1, 2, 2])

func.func @groups(%a: tensor<2x5x6xf64>, %b: tensor<6x2x3xf64>) -> tensor<2x5x6xf64> {
  %r = mtc.convolve %a, %b groups 3 before [1] strides [1] dilations [1] : (tensor<2x5x6xf64>, tensor<6x2x3xf64>) -> tensor<2x5x6xf64>
  return %r : tensor<2x5x6xf64>
}
// expect @groups = [x := a0.reshape([2, 5, 3, 2]), w := a1.reshape([3, 2, 2, 3]), r := np.zeros([2, 5, 3, 2]), [np.add.at(r, (slice(None), o0), np.einsum('ngc,gmc->ngm', x[:, o0*1+k0*1-1], w[..., k0])) for o0 in range(5) for k0 in range(3) if 0 <= o0*1+k0*1-1 < 5]][2].reshape([2, 5, 6])

func.func @depthwise(%a: tensor<2x5x4x4xf64>, %b: tensor<4x1x3x2xf64>) -> tensor<2x5x2x4xf64> {
  %r = mtc.convolve %a, %b groups 4 before [1, 0] strides [1, 2] dilations [1, 1] : (tensor<2x5x4x4xf64>, tensor<4x1x3x2xf64>) -> tensor<2x5x2x4xf64>
  return %r : tensor<2x5x2x4xf64>
}
// expect @depthwise = [x := a0.reshape([2, 5, 4, 4, 1]), w := a1.reshape([4, 1, 1, 3, 2]), r := np.zeros([2, 5, 2, 4, 1]), [np.add.at(r, (slice(None), o0, o1), np.einsum('ngc,gmc->ngm', x[:, o0*1+k0*1-1, o1*2+k1*1-0], w[..., k0, k1])) for o0 in range(5) for k0 in range(3) for o1 in range(2) for k1 in range(2) if 0 <= o0*1+k0*1-1 < 5 and 0 <= o1*2+k1*1-0 < 4]][2].reshape([2, 5, 2, 4])

func.func @depthwise_twofold(%a: tensor<2x6x3xf64>, %b: tensor<6x1x3xf64>) -> tensor<2x3x6xf64> {
  %r = mtc.convolve %a, %b groups 3 before [1] strides [2] dilations [1] : (tensor<2x6x3xf64>, tensor<6x1x3xf64>) -> tensor<2x3x6xf64>
  return %r : tensor<2x3x6xf64>
}
// expect @depthwise_twofold = [x := a0.reshape([2, 6, 3, 1]), w := a1.reshape([3, 2, 1, 3]), r := np.zeros([2, 3, 3, 2]), [np.add.at(r, (slice(None), o0), np.einsum('ngc,gmc->ngm', x[:, o0*2+k0*1-1], w[..., k0])) for o0 in range(3) for k0 in range(3) if 0 <= o0*2+k0*1-1 < 6]][2].reshape([2, 3, 6])

func.func @volume(%a: tensor<1x3x4x3x2xf64>, %b: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x3x2xf64> {
  %r = mtc.convolve %a, %b before [0, 0, 1] strides [1, 2, 1] dilations [1, 1, 1] : (tensor<1x3x4x3x2xf64>, tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x3x2xf64>
  return %r : tensor<1x2x2x3x2xf64>
}
// expect @volume = [x := a0.reshape([1, 3, 4, 3, 1, 2]), w := a1.reshape([1, 2, 2, 2, 2, 2]), r := np.zeros([1, 2, 2, 3, 1, 2]), [np.add.at(r, (slice(None), o0, o1, o2), np.einsum('ngc,gmc->ngm', x[:, o0*1+k0*1-0, o1*2+k1*1-0, o2*1+k2*1-1], w[..., k0, k1, k2])) for o0 in range(2) for k0 in range(2) for o1 in range(2) for k1 in range(2) for o2 in range(3) for k2 in range(2) if 0 <= o0*1+k0*1-0 < 3 and 0 <= o1*2+k1*1-0 < 4 and 0 <= o2*1+k2*1-1 < 3]][2].reshape([1, 2, 2, 3, 2])

// Operations that are computed on the operand of a transpose keep their values.
// RUN: mtc-opt %s -mtc-keep-channels-last -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s
// RUN: mtc-opt %s -mtc-keep-channels-last -canonicalize | FileCheck %s

// A convolution whose only weight is 1 is the identity.
// CHECK-LABEL: func.func @elementwise
// CHECK: mtc.compare
// CHECK: mtc.select
// CHECK-NEXT: mtc.transpose
// CHECK-NEXT: return
func.func @elementwise(%x: tensor<2x3x4x5xf64>, %w: tensor<5x1x1x1xf64>, %z: tensor<2x5x3x4xf64>) -> tensor<2x5x3x4xf64> {
  %c = mtc.convolve %x, %w groups 5 before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x3x4x5xf64>, tensor<5x1x1x1xf64>) -> tensor<2x3x4x5xf64>
  %t = mtc.transpose %c [0, 3, 1, 2] : tensor<2x3x4x5xf64> -> tensor<2x5x3x4xf64>
  %g = mtc.compare gt %t, %z : tensor<2x5x3x4xf64> -> tensor<2x5x3x4xi1>
  %y = mtc.select %g, %t, %z : tensor<2x5x3x4xi1>, tensor<2x5x3x4xf64>
  return %y : tensor<2x5x3x4xf64>
}
// given @elementwise a1 = np.ones((5, 1, 1, 1))
// expect @elementwise = np.maximum(a0.transpose(0, 3, 1, 2), a2)

// CHECK-LABEL: func.func @movement
// CHECK: mtc.convolve
// CHECK-NEXT: mtc.slice
// CHECK-NEXT: mtc.pad
// CHECK-NEXT: mtc.reverse
// CHECK: mtc.concatenate
// CHECK-NEXT: mtc.transpose
// CHECK-NEXT: return
func.func @movement(%x: tensor<2x3x4x5xf64>, %w: tensor<5x1x1x1xf64>, %z: tensor<2x2x5x4xf64>) -> tensor<2x4x5x4xf64> {
  %c = mtc.convolve %x, %w groups 5 before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x3x4x5xf64>, tensor<5x1x1x1xf64>) -> tensor<2x3x4x5xf64>
  %t = mtc.transpose %c [0, 3, 1, 2] : tensor<2x3x4x5xf64> -> tensor<2x5x3x4xf64>
  %s = mtc.slice %t offsets [0, 1, 0, 0] strides [1, 3, 1, 1] : tensor<2x5x3x4xf64> -> tensor<2x2x3x4xf64>
  %p = mtc.pad %s low [0, 0, 1, 0] high [0, 0, 1, 0] interior [0, 0, 0, 0] value 2.0 : f64 : tensor<2x2x3x4xf64> -> tensor<2x2x5x4xf64>
  %r = mtc.reverse %p axes [1, 3] : tensor<2x2x5x4xf64>
  %y = mtc.concatenate %z, %r axis 1 : (tensor<2x2x5x4xf64>, tensor<2x2x5x4xf64>) -> tensor<2x4x5x4xf64>
  return %y : tensor<2x4x5x4xf64>
}
// given @movement a1 = np.ones((5, 1, 1, 1))
// expect @movement = np.concatenate([a2, np.pad(a0.transpose(0, 3, 1, 2)[:, 1::3], ((0, 0), (0, 0), (1, 1), (0, 0)), constant_values=2)[:, ::-1, :, ::-1]], 1)

// CHECK-LABEL: func.func @axes
// CHECK: mtc.convolve
// CHECK-NEXT: mtc.windows
// CHECK-NEXT: mtc.reduce
// CHECK-NEXT: mtc.reduce
// CHECK-NEXT: mtc.transpose
// CHECK-NEXT: mtc.broadcast
// CHECK-NEXT: return
func.func @axes(%x: tensor<2x3x4x5xf64>, %w: tensor<5x1x1x1xf64>) -> tensor<2x4x6x3x2xf64> {
  %c = mtc.convolve %x, %w groups 5 before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x3x4x5xf64>, tensor<5x1x1x1xf64>) -> tensor<2x3x4x5xf64>
  %t = mtc.transpose %c [0, 3, 1, 2] : tensor<2x3x4x5xf64> -> tensor<2x5x3x4xf64>
  %s = mtc.windows %t axes [1, 3] strides [1, 1] dilations [1, 2] : tensor<2x5x3x4xf64> -> tensor<2x4x3x2x2x2xf64>
  %r = mtc.reduce add %s axes [2, 5] : tensor<2x4x3x2x2x2xf64> -> tensor<2x4x2x2xf64>
  %q = mtc.reduce max %r axes [3] : tensor<2x4x2x2xf64> -> tensor<2x4x2xf64>
  %y = mtc.broadcast %q axes [2, 3] : tensor<2x4x2xf64> -> tensor<2x4x6x3x2xf64>
  return %y : tensor<2x4x6x3x2xf64>
}
// given @axes a1 = np.ones((5, 1, 1, 1))
// expect @axes = [t := a0.transpose(0, 3, 1, 2), r := np.array([[(t[:, k:k+4, :, l:l+2]) for k in range(2)] for l in (0, 2)]).sum((0, 4)).max(0), np.broadcast_to(r[:, :, None, None, :], (2, 4, 6, 3, 2))][2]

// CHECK-LABEL: func.func @readers
// CHECK: mtc.convolve
// CHECK-NEXT: mtc.gather
// CHECK: mtc.contract
// CHECK: mtc.contract
func.func @readers(%x: tensor<2x3x4x5xf64>, %w: tensor<5x1x1x1xf64>, %i: tensor<2x2xi64>, %m: tensor<3x6xf64>, %n: tensor<2x7x3xf64>) -> (tensor<2x5x2x2x4x6xf64>, tensor<2x7x5x4xf64>) {
  %c = mtc.convolve %x, %w groups 5 before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x3x4x5xf64>, tensor<5x1x1x1xf64>) -> tensor<2x3x4x5xf64>
  %t = mtc.transpose %c [0, 3, 1, 2] : tensor<2x3x4x5xf64> -> tensor<2x5x3x4xf64>
  %g = mtc.gather %t, %i axis 2 batch 0 : tensor<2x5x3x4xf64>, tensor<2x2xi64> -> tensor<2x5x2x2x4xf64>
  %b = mtc.broadcast %g axes [3] : tensor<2x5x2x2x4xf64> -> tensor<2x5x2x3x2x4xf64>
  %y = mtc.contract %b, %m batch [] x [] over [3] x [0] : tensor<2x5x2x3x2x4xf64>, tensor<3x6xf64> -> tensor<2x5x2x2x4x6xf64>
  %z = mtc.contract %n, %t batch [0] x [0] over [2] x [2] : tensor<2x7x3xf64>, tensor<2x5x3x4xf64> -> tensor<2x7x5x4xf64>
  return %y, %z : tensor<2x5x2x2x4x6xf64>, tensor<2x7x5x4xf64>
}
// given @readers a1 = np.ones((5, 1, 1, 1))
// given @readers a2 = [[0, 2], [1, 1]]
// expect @readers = np.einsum('abijc,dk->abijck', a0.transpose(0, 3, 1, 2)[:, :, a2], a3), np.einsum('nmh,nhwc->nmcw', a4, a0)

// Values of data movement kernels.
// RUN: mtc-opt %s -mtc-form-kernels -mlir-print-local-scope | %python %support/interpret.py %s

func.func @constant() -> tensor<2x3xf32> {
  %y = mtc.constant dense<1.5> : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// expect @constant = np.full((2, 3), 1.5)

func.func @iota() -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %y = mtc.iota 1 : tensor<2x3xf32>
  %z = mtc.iota 0 : tensor<2x3xi32>
  return %y, %z : tensor<2x3xf32>, tensor<2x3xi32>
}
// expect @iota = np.array([[0, 1, 2], [0, 1, 2]]), np.array([[0, 0, 0], [1, 1, 1]])

func.func @broadcast(%x: tensor<4xf32>) -> tensor<3x4x2xf32> {
  %y = mtc.broadcast %x axes [0, 2] : tensor<4xf32> -> tensor<3x4x2xf32>
  return %y : tensor<3x4x2xf32>
}
// expect @broadcast = np.broadcast_to(a0[None, :, None], (3, 4, 2))

func.func @broadcast_scalar(%x: tensor<f32>) -> tensor<3xf32> {
  %y = mtc.broadcast %x axes [0] : tensor<f32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}
// expect @broadcast_scalar = np.broadcast_to(a0, (3,))

func.func @reshape(%x: tensor<4x6x5xf32>) -> tensor<2x12x5xf32> {
  %y = mtc.reshape %x : tensor<4x6x5xf32> -> tensor<2x12x5xf32>
  %z = mtc.neg %y : tensor<2x12x5xf32>
  return %z : tensor<2x12x5xf32>
}
// expect @reshape = -a0.reshape(2, 12, 5)

func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %y = mtc.transpose %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}
// expect @transpose = a0.transpose(2, 0, 1)

func.func @slice(%x: tensor<4x12xf32>) -> tensor<2x3xf32> {
  %y = mtc.slice %x offsets [1, 2] strides [2, 3] : tensor<4x12xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// expect @slice = a0[1:5:2, 2:9:3]

func.func @pad(%x: tensor<2x4xf32>) -> tensor<3x10xf32> {
  %y = mtc.pad %x low [0, 1] high [1, 2] interior [0, 1] value -2.0 : f32 : tensor<2x4xf32> -> tensor<3x10xf32>
  return %y : tensor<3x10xf32>
}
// expect @pad = [y := np.full((3, 10), -2.0), y.__setitem__((slice(0, 2), slice(1, 8, 2)), a0)][0]

func.func @pad_interior(%x: tensor<3xi64>) -> tensor<7xi64> {
  %y = mtc.pad %x low [0] high [0] interior [2] value -1 : i64 : tensor<3xi64> -> tensor<7xi64>
  return %y : tensor<7xi64>
}
// given @pad_interior a0 = [4, 5, 6]
// expect @pad_interior = np.array([4, -1, -1, 5, -1, -1, 6])

func.func @reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mtc.reverse %x axes [1] : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// expect @reverse = a0[:, ::-1]

func.func @concatenate(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>, %c: tensor<2x1xf32>) -> tensor<2x9xf32> {
  %y = mtc.concatenate %a, %b, %c axis 1 : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x9xf32>
  return %y : tensor<2x9xf32>
}
// expect @concatenate = np.concatenate([a0, a1, a2], 1)

func.func @concatenate_self(%a: tensor<2xi1>) -> tensor<4xi1> {
  %y = mtc.concatenate %a, %a axis 0 : (tensor<2xi1>, tensor<2xi1>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// given @concatenate_self a0 = [True, False]
// expect @concatenate_self = np.array([True, False, True, False])

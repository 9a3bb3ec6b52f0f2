// Values of gather and scatter-add kernels.
// RUN: mtc-opt %s -mtc-form-kernels -mlir-print-local-scope | %python %support/interpret.py %s

func.func @gather(%x: tensor<2x5x3xf32>, %i: tensor<4x2xi32>) -> tensor<2x4x2x3xf32> {
  %y = mtc.gather %x, %i axis 1 batch 0 : tensor<2x5x3xf32>, tensor<4x2xi32> -> tensor<2x4x2x3xf32>
  return %y : tensor<2x4x2x3xf32>
}
// given @gather a1 = [[0, 4], [-1, -5], [2, 2], [1, 3]]
// expect @gather = a0[:, a1]

func.func @gather_batch(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi64>) -> tensor<2x4x3xf32> {
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<2x5x3xf32>, tensor<2x4xi64> -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}
// given @gather_batch a1 = [[0, 4, -1, 2], [3, 3, 1, -5]]
// expect @gather_batch = np.take_along_axis(a0, a1[:, :, None], 1)

// The result has one element per row. 200 is not a negative index, because the byte is unsigned.
func.func @gather_one(%x: tensor<2x201xf32>, %i: tensor<2xui8>) -> tensor<2xf32> {
  %y = mtc.gather %x, %i axis 1 batch 1 : tensor<2x201xf32>, tensor<2xui8> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// given @gather_one a1 = [7, 200 - 256]
// expect @gather_one = a0[[0, 1], [7, 200]]

func.func @gather_outside(%x: tensor<5xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %y = mtc.gather %x, %i axis 0 batch 0 : tensor<5xf32>, tensor<2xi64> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// given @gather_outside a1 = [0, 5]
// fault @gather_outside

func.func @scatter_add(%u: tensor<3x2xf32>, %i: tensor<3xi64>) -> tensor<4x2xf32> {
  %y = mtc.scatter_add %u, %i axis 0 batch 0 : tensor<3x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
// given @scatter_add a1 = [3, 0, -1]
// expect @scatter_add = np.stack([a0[1], 0 * a0[0], 0 * a0[0], a0[0] + a0[2]])

func.func @scatter_add_batch(%u: tensor<2x2x3xf32>, %i: tensor<2x3xi64>) -> tensor<2x2x4xf32> {
  %y = mtc.scatter_add %u, %i axis 2 batch 1 : tensor<2x2x3xf32>, tensor<2x3xi64> -> tensor<2x2x4xf32>
  return %y : tensor<2x2x4xf32>
}
// given @scatter_add_batch a1 = [[0, 0, 3], [1, 2, 1]]
// expect @scatter_add_batch = np.stack([a0[0] @ np.eye(4)[[0, 0, 3]], a0[1] @ np.eye(4)[[1, 2, 1]]])

func.func @scatter_onto(%u: tensor<3x2xf32>, %i: tensor<3xi64>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %y = mtc.scatter_add %u, %i axis 0 batch 0 onto %b : tensor<4x2xf32> : tensor<3x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
// given @scatter_onto a1 = [3, 0, -1]
// expect @scatter_onto = a2 + np.stack([a0[1], 0 * a0[0], 0 * a0[0], a0[0] + a0[2]])

func.func @scatter_onto_constant(%u: tensor<3xf32>, %i: tensor<3xi64>) -> tensor<4xf32> {
  %b = mtc.constant dense<2.0> : tensor<4xf32>
  %y = mtc.scatter_add %u, %i axis 0 batch 0 onto %b : tensor<4xf32> : tensor<3xf32>, tensor<3xi64> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// given @scatter_onto_constant a1 = [3, 0, 3]
// expect @scatter_onto_constant = [2 + a0[1], 2, 2, 2 + a0[0] + a0[2]]

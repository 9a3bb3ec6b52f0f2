// The values of losses, and the contribution of each row of the batch.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss=loss=cross-entropy --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/classes.mlir
// RUN: mtc-opt %t/image.mlir --mtc-attach-loss=loss=cross-entropy --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/image.mlir
// RUN: mtc-opt %t/ignored.mlir --mtc-attach-loss=loss=causal-lm --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/ignored.mlir
// RUN: mtc-opt %t/unsigned.mlir --mtc-attach-loss=loss=cross-entropy --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/unsigned.mlir
// RUN: mtc-opt %t/mse.mlir --mtc-attach-loss=loss=mse --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/mse.mlir
// RUN: mtc-opt %t/weighted.mlir --mtc-attach-loss="loss=mse loss-weights=auto" --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/weighted.mlir
// RUN: mtc-opt %t/weighted-classes.mlir --mtc-attach-loss="loss=cross-entropy loss-weights=always" --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/weighted-classes.mlir
// RUN: mtc-opt %t/l1.mlir --mtc-attach-loss=loss=l1 --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/l1.mlir
// RUN: mtc-opt %t/bce.mlir --mtc-attach-loss=loss=bce-with-logits --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py %t/bce.mlir

//--- classes.mlir
// The third row is ignored. The second row is predicted correctly, and so is the fourth one, by a tie.
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}
// given @micro_step a0 = [[1, 2, 3], [4, 0, 0], [1, 1, 1], [2, 2, 0]]
// given @micro_step a1 = [0, 0, -100, 1]
// expect @micro_step = (2.4076060 + 0.0359760 + 0.7586240) / 3
// given @evaluate a0 = [[1, 2, 3], [4, 0, 0], [1, 1, 1], [2, 2, 0]]
// given @evaluate a1 = [0, 0, -100, 1]
// expect @evaluate = (2.4076060 + 0.0359760 + 0.7586240) / 3, np.array([2.4076060, 0.0359760, 0, 0.7586240]), np.array([1, 1, 0, 1]), np.array([0, 1, 0, 1]), np.array([2, 0, -1, 0]), np.array([0, 0, -1, 1]), (lambda e: 1 / e.sum(-1))(np.exp(a0 - a0.max(-1, keepdims=True))), (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a0 - a0.max(-1, keepdims=True)))
// expect @outputs = a0

//--- image.mlir
// Classes are on axis 1, and the contribution of a row is the sum over its pixels.
func.func @forward(%x: tensor<1x2x1x2xf32> {mtc.name = "x"}) -> (tensor<1x2x1x2xf32> {mtc.name = "logits"}) {
  return %x : tensor<1x2x1x2xf32>
}
// given @micro_step a0 = [[[[1, 0]], [[0, 3]]]]
// given @micro_step a1 = [[[0, 0]]]
// expect @micro_step = (0.3132617 + 3.0485874) / 2
// given @evaluate a0 = [[[[1, 0]], [[0, 3]]]]
// given @evaluate a1 = [[[0, 0]]]
// expect @evaluate = (0.3132617 + 3.0485874) / 2, np.array([0.3132617 + 3.0485874]), np.array([2]), np.array([1]), np.array([0]), np.array([1]), np.array([0]), a0[:, 1] - a0[:, 0], np.array([[[0, 0]]])
// expect @outputs = a0

//--- ignored.mlir
// The mean over no target is NaN, as in PyTorch.
func.func @forward(%x: tensor<1x2x3xf32> {mtc.name = "x"}) -> (tensor<1x2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<1x2x3xf32>
}
// given @micro_step a1 = [[-100, -100]]
// expect @micro_step = np.array(nan)
// given @evaluate a1 = [[-100, -100]]
// expect @evaluate = np.array(nan), np.array([0]), np.array([0]), np.array([0]), np.array([0])
// expect @outputs = a0

//--- unsigned.mlir
// With unsigned labels, all labels are valid.
func.func @forward(%x: tensor<1x200xf32> {mtc.name = "x"}, %l: tensor<1xui8> {mtc.name = "labels"}) -> (tensor<1x200xf32> {mtc.name = "logits"}) {
  return %x : tensor<1x200xf32>
}
// given @micro_step a1 = [156 - 256]
// expect @micro_step = np.log(np.exp(a0).sum()) - a0[0, 156]
// given @evaluate a0 = [np.arange(200) == 156]
// given @evaluate a1 = [156 - 256]
// expect @evaluate = np.log(199 + np.e) - 1, np.array([np.log(199 + np.e) - 1]), np.array([1]), np.array([1]), np.array([1]), np.array([156]), np.array([156]), np.array([np.e / (199 + np.e)])
// given @outputs a1 = [156 - 256]
// expect @outputs = a0

//--- mse.mlir
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "y"}) {
  return %x : tensor<2x3xf32>
}
// expect @micro_step = ((a0 - a1) ** 2).mean()
// expect @evaluate = ((a0 - a1) ** 2).mean(), ((a0 - a1) ** 2).sum(1), np.array([3, 3]), np.abs(a0 - a1).sum(1), ((a0 - a1) ** 2).sum(1), a1.mean(1), a1.var(1) * 3
// expect @outputs = a0

//--- weighted.mlir
// The third sample is excluded. Metrics do not use the weights.
func.func @forward(%x: tensor<3x2xf32> {mtc.name = "x"}) -> (tensor<3x2xf32> {mtc.name = "y"}) {
  return %x : tensor<3x2xf32>
}
// given @micro_step a2 = [1, 0.5, 0]
// expect @micro_step = (((a0 - a1) ** 2) * a2[:, None]).sum() / 3
// given @evaluate a2 = [1, 0.5, 0]
// expect @evaluate = (((a0 - a1) ** 2) * a2[:, None]).sum() / 3, ((a0 - a1) ** 2).sum(1) * a2, 2 * a2, np.abs(a0 - a1).sum(1), ((a0 - a1) ** 2).sum(1), a1.mean(1), a1.var(1) * 2, np.array([2, 2, 2])
// expect @outputs = a0

//--- weighted-classes.mlir
// The second sample has an ignored label.
func.func @forward(%x: tensor<3x2xf32> {mtc.name = "x"}) -> (tensor<3x2xf32> {mtc.name = "logits"}) {
  return %x : tensor<3x2xf32>
}
// given @micro_step a0 = [[1, 0], [5, 1], [0, 3]]
// given @micro_step a1 = [0, -100, 0]
// given @micro_step a2 = [2, 1, 0.5]
// expect @micro_step = (2 * 0.3132617 + 0.5 * 3.0485874) / 2.5
// given @evaluate a0 = [[1, 0], [5, 1], [0, 3]]
// given @evaluate a1 = [0, -100, 0]
// given @evaluate a2 = [2, 1, 0.5]
// expect @evaluate = (2 * 0.3132617 + 0.5 * 3.0485874) / 2.5, np.array([2 * 0.3132617, 0, 0.5 * 3.0485874]), np.array([2, 0, 0.5]), np.array([1, 0, 0]), np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 0, 0]), a0[:, 1] - a0[:, 0], np.array([0, -1, 0]), np.array([1, 0, 1])
// expect @outputs = a0

//--- l1.mlir
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "y"}) {
  return %x : tensor<2x3xf32>
}
// expect @micro_step = np.abs(a0 - a1).mean()
// expect @evaluate = np.abs(a0 - a1).mean(), np.abs(a0 - a1).sum(1), np.array([3, 3]), np.abs(a0 - a1).sum(1), ((a0 - a1) ** 2).sum(1), a1.mean(1), a1.var(1) * 3
// expect @outputs = a0

//--- bce.mlir
// Large values do not overflow.
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}
// given @micro_step a0 = [200, -200, 0, 1]
// given @micro_step a1 = [0, 1, 0.25, 0.75]
// expect @micro_step = (200 + 200 + 0.6931472 + 0.5632617) / 4
// given @evaluate a0 = [200, -200, 0, 1]
// given @evaluate a1 = [0, 1, 0.25, 0.75]
// expect @evaluate = (200 + 200 + 0.6931472 + 0.5632617) / 4, np.array([200, 200, 0.6931472, 0.5632617]), np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), np.array([1, 0, 0, 1]), np.array([0, 1, 0, 1]), a0, np.array([0, 1, 0, 1])
// expect @outputs = a0

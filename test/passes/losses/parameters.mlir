// Parameters of losses: The expected means, and the contributions of each row, are computed in numpy by PyTorch's formulas.
//
// DEFINE: %{values} = --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py
// RUN: split-file %s %t
// RUN: mtc-opt %t/smoothing.mlir --mtc-attach-loss="loss=cross-entropy label-smoothing=0.1" | FileCheck %t/smoothing.mlir
// RUN: mtc-opt %t/smoothing.mlir --mtc-attach-loss="loss=cross-entropy label-smoothing=0.1" %{values} %t/smoothing.mlir
// RUN: mtc-opt %t/tokens.mlir --mtc-attach-loss="loss=causal-lm label-smoothing=0.2 ignore-index=2" | FileCheck %t/tokens.mlir
// RUN: mtc-opt %t/tokens.mlir --mtc-attach-loss="loss=causal-lm label-smoothing=0.2 ignore-index=2" %{values} %t/tokens.mlir
// RUN: mtc-opt %t/weights.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,0.25 label-smoothing=0.3" %{values} %t/weights.mlir
// RUN: mtc-opt %t/micro.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,0.25 accumulate=4" | FileCheck %t/micro.mlir
// RUN: mtc-opt %t/micro.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,0.25 accumulate=4" %{values} %t/micro.mlir
// RUN: mtc-opt %t/unsigned.mlir --mtc-attach-loss="loss=cross-entropy ignore-index=255" | FileCheck %t/unsigned.mlir
// RUN: mtc-opt %t/unsigned.mlir --mtc-attach-loss="loss=cross-entropy ignore-index=255" %{values} %t/unsigned.mlir
// RUN: mtc-opt %t/soft.mlir --mtc-attach-loss="loss=cross-entropy soft-labels label-smoothing=0.1 class-weights=0.5,2,0.25" | FileCheck %t/soft.mlir
// RUN: mtc-opt %t/soft.mlir --mtc-attach-loss="loss=cross-entropy soft-labels label-smoothing=0.1 class-weights=0.5,2,0.25" %{values} %t/soft.mlir
// RUN: mtc-opt %t/soft_image.mlir --mtc-attach-loss="loss=cross-entropy" %{values} %t/soft_image.mlir
// RUN: mtc-opt %t/divergence.mlir --mtc-attach-loss="loss=kl-div" %{values} %t/divergence.mlir
// RUN: mtc-opt %t/log_target.mlir --mtc-attach-loss="loss=kl-div log-target" %{values} %t/log_target.mlir
// RUN: mtc-opt %t/huber.mlir --mtc-attach-loss="loss=huber huber-delta=0.5" %{values} %t/huber.mlir
// RUN: mtc-opt %t/smooth.mlir --mtc-attach-loss="loss=smooth-l1 smooth-l1-beta=0.5" %{values} %t/smooth.mlir
// RUN: mtc-opt %t/absolute.mlir --mtc-attach-loss="loss=smooth-l1 smooth-l1-beta=0" %{values} %t/absolute.mlir
// RUN: mtc-opt %t/positive.mlir --mtc-attach-loss="loss=bce-with-logits pos-weight=3" %{values} %t/positive.mlir
// RUN: mtc-opt %t/positives.mlir --mtc-attach-loss="loss=bce-with-logits pos-weight=3,0.5" %{values} %t/positives.mlir

//--- smoothing.mlir
// CHECK-LABEL: func.func @micro_step
// The smoothed part is a sum of logits, so that there is no second softmax.
// CHECK: %[[L:.*]] = mtc.softmax_cross_entropy %[[X:.*]], %{{.*}} ignore -100 :
// CHECK: mtc.reduce max %[[X]] axes [1]
// CHECK-NOT: mtc.exp
// CHECK: mtc.reduce add %{{.*}} axes [1] : tensor<4x3xf32> -> tensor<4xf32>
// CHECK-NOT: mtc.exp
// CHECK-LABEL: func.func @evaluate
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}
// given @micro_step a1 = [0, 0, -100, 1]
// expect @micro_step = (lambda p: (-0.9 * p[[0, 1, 3], [0, 0, 1]] - 0.1 / 3 * p[[0, 1, 3]].sum(1)).mean())(a0 - np.log(np.exp(a0).sum(1, keepdims=True)))

//--- tokens.mlir
// The ignored label is also that of the last token. Perplexity only depends on the label.
// CHECK: mtc.input "labels" label shifted_from "input_ids" indices <minimum = 0, limit = 4, ignored = 2, user = "the loss">
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.softmax_cross_entropy %{{.*}}, %{{.*}} ignore 2 :
// CHECK: mtc.constant dense<2> : tensor<1x3xi64>
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME: "mtc.row_loss"}, tensor<1xf32> {mtc.name = "mtc.row_weight"}, tensor<1xf32> {mtc.name = "mtc.row_correct"}, tensor<1xf32> {mtc.name = "mtc.row_negative_log_likelihood"})
// CHECK: %[[PLAIN:.*]] = mtc.softmax_cross_entropy %{{.*}} ignore 2 :
func.func @forward(%ids: tensor<1x3xi64> {mtc.name = "input_ids"}, %x: tensor<1x3x4xf32> {mtc.name = "x"}) -> (tensor<1x3x4xf32> {mtc.name = "logits"}) {
  return %x : tensor<1x3x4xf32>
}
// given @micro_step a0 = [[0, 1, 2]]
// given @micro_step a2 = [[1, 2, 3]]
// expect @micro_step = (lambda p: (-0.8 * p[0, [0, 2], [1, 3]] - 0.05 * p[0, [0, 2]].sum(1)).mean())(a1 - np.log(np.exp(a1).sum(2, keepdims=True)))

//--- weights.mlir
// The mean divides by the weights of the labels.
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}
// given @micro_step a1 = [2, 0, -100, 1]
// expect @micro_step = (lambda p, w: (-0.7 * w[[2, 0, 1]] * p[[0, 1, 3], [2, 0, 1]] - 0.1 * (w * p[[0, 1, 3]]).sum(1)).sum() / w[[2, 0, 1]].sum())(a0 - np.log(np.exp(a0).sum(1, keepdims=True)), np.array([0.5, 2, 0.25]))

//--- micro.mlir
// Micro-steps sum the weights; the update divides by their sum.
// CHECK: accumulation <micro_steps = 4, targets = 16>
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf32>
}
// given @micro_step a1 = [2, 0, -100, 1]
// given @micro_step @mtc.loss_sum = 2
// given @micro_step @mtc.target_count = 5
// expect @micro_step = (lambda p, w: (-w[[2, 0, 1]] * p[[0, 1, 3], [2, 0, 1]]).sum() / 16)(a0 - np.log(np.exp(a0).sum(1, keepdims=True)), np.array([0.5, 2, 0.25]))
// expect @micro_step @mtc.target_count = 7.75

//--- unsigned.mlir
// A label of an unsigned type can be the ignored one.
// CHECK: mtc.input "labels" label indices <minimum = 0, limit = 3, ignored = 255, user = "the loss">
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}, %l: tensor<2xui8> {mtc.name = "labels"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @micro_step a1 = [255 - 256, 2]
// expect @micro_step = np.log(np.exp(a0[1]).sum()) - a0[1, 2]
// given @outputs a1 = [1, 2]
// expect @outputs = a0

//--- soft.mlir
// The labels are class probabilities. The mean is over targets, independently of the weights.
// CHECK: mtc.input "labels" label{{$}}
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: tensor<2x3xf32> {mtc.name = "labels"})
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @micro_step a1 = [[0.5, 0.25, 0.25], [0, 0, 1]]
// expect @micro_step = (lambda p, w: -(w * (0.9 * a1 + 0.1 / 3) * p).sum() / 2)(a0 - np.log(np.exp(a0).sum(1, keepdims=True)), np.array([0.5, 2, 0.25]))

//--- soft_image.mlir
// Floating-point labels of the graph are probabilities without a flag, along axis 1 of images.
func.func @forward(%x: tensor<2x3x2x2xf32> {mtc.name = "x"}, %l: tensor<2x3x2x2xf16> {mtc.name = "labels"}) -> (tensor<2x3x2x2xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3x2x2xf32>
}
// given @micro_step a1 = np.arange(24).reshape(2, 3, 2, 2) / 16
// expect @micro_step = -(a1.astype(np.float32) * (a0 - np.log(np.exp(a0).sum(1, keepdims=True)))).sum() / 8

//--- divergence.mlir
// The loss is the mean over samples of the sum over each sample (batchmean). Probabilities of 0 contribute nothing.
func.func @forward(%x: tensor<2x2x3xf32> {mtc.name = "x"}) -> (tensor<2x2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x2x3xf32>
}
// given @micro_step a1 = [[[0.5, 0.25, 0.25], [0, 0, 1]], [[0.125, 0.75, 0.125], [0.5, 0.5, 0]]]
// expect @micro_step = (lambda p: (a1 * (np.log(np.where(a1 == 0, 1, a1)) - p)).sum() / 2)(a0 - np.log(np.exp(a0).sum(2, keepdims=True)))

//--- log_target.mlir
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @micro_step a1 = np.log([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
// expect @micro_step = (lambda p: (np.exp(a1) * (a1 - p)).sum() / 2)(a0 - np.log(np.exp(a0).sum(1, keepdims=True)))

//--- huber.mlir
func.func @forward(%x: tensor<5xf32> {mtc.name = "x"}) -> (tensor<5xf32> {mtc.name = "y"}) {
  return %x : tensor<5xf32>
}
// given @micro_step a0 = [0, 0.25, -0.5, 3, -100]
// given @micro_step a1 = [0, 0, 0, 1, 0]
// expect @micro_step = (0 + 0.03125 + 0.125 + 0.5 * 1.75 + 0.5 * 99.75) / 5

//--- smooth.mlir
func.func @forward(%x: tensor<5xf32> {mtc.name = "x"}) -> (tensor<5xf32> {mtc.name = "y"}) {
  return %x : tensor<5xf32>
}
// given @micro_step a0 = [0, 0.25, -0.5, 3, -100]
// given @micro_step a1 = [0, 0, 0, 1, 0]
// expect @micro_step = (0 + 0.0625 + 0.25 + 1.75 + 99.75) / 5

//--- absolute.mlir
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "y"}) {
  return %x : tensor<2x3xf32>
}
// expect @micro_step = np.abs(a0 - a1).mean()

//--- positive.mlir
// Large values do not overflow.
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}
// given @micro_step a0 = [200, -200, 0, 1]
// given @micro_step a1 = [0, 1, 0.25, 0.75]
// expect @micro_step = (200 + 3 * 200 + 1.5 * 0.6931472 + 0.25 + 2.5 * 0.3132617) / 4

//--- positives.mlir
// One weight for each element of the last axis.
func.func @forward(%x: tensor<3x2xf32> {mtc.name = "x"}) -> (tensor<3x2xf32> {mtc.name = "y"}) {
  return %x : tensor<3x2xf32>
}
// given @micro_step a1 = [[0, 1], [1, 0], [1, 1]]
// expect @micro_step = (a1 * np.array([3, 0.5]) * np.log1p(np.exp(-a0)) + (1 - a1) * np.log1p(np.exp(a0))).mean()

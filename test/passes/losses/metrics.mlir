// Evaluation computes the metrics of each loss from values per sample: sums, and the classes of targets.
//
// DEFINE: %{values} = --mtc-decompose --canonicalize --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py
// RUN: split-file %s %t
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy ignore-index=9" | FileCheck %t/classes.mlir
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy ignore-index=9" %{values} %t/classes.mlir
// RUN: mtc-opt %t/weights.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,1" | FileCheck %t/weights.mlir
// RUN: mtc-opt %t/weights.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,1" %{values} %t/weights.mlir
// RUN: mtc-opt %t/binary.mlir --mtc-attach-loss=loss=cross-entropy | FileCheck %t/binary.mlir
// RUN: mtc-opt %t/binary.mlir --mtc-attach-loss=loss=cross-entropy %{values} %t/binary.mlir
// RUN: mtc-opt %t/image.mlir --mtc-attach-loss=loss=cross-entropy | FileCheck %t/image.mlir
// RUN: mtc-opt %t/soft.mlir --mtc-attach-loss="loss=cross-entropy soft-labels" | FileCheck %t/soft.mlir
// RUN: mtc-opt %t/soft.mlir --mtc-attach-loss="loss=cross-entropy soft-labels" %{values} %t/soft.mlir
// RUN: mtc-opt %t/labels.mlir --mtc-attach-loss=loss=bce-with-logits | FileCheck %t/labels.mlir
// RUN: mtc-opt %t/labels.mlir --mtc-attach-loss=loss=bce-with-logits %{values} %t/labels.mlir
// RUN: mtc-opt %t/label.mlir --mtc-attach-loss=loss=bce-with-logits | FileCheck %t/label.mlir
// RUN: mtc-opt %t/errors.mlir --mtc-attach-loss=loss=l1 | FileCheck %t/errors.mlir
// RUN: mtc-opt %t/errors.mlir --mtc-attach-loss=loss=l1 %{values} %t/errors.mlir
// RUN: mtc-opt %t/scalars.mlir --mtc-attach-loss=loss=mse %{values} %t/scalars.mlir

//--- classes.mlir
// With more than five classes, the five largest scores count. Ties count as correct, and the first class of a tie is predicted. A row with
// NaN predicts no class.
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME: tensor<5xf32> {mtc.name = "mtc.row_loss"}, tensor<5xf32> {mtc.name = "mtc.row_weight"},
// CHECK-SAME: tensor<5xf32> {mtc.name = "mtc.row_correct"}, tensor<5xf32> {mtc.name = "mtc.row_top5_correct"},
// CHECK-SAME: tensor<5xi32> {mtc.name = "mtc.row_predicted_class"}, tensor<5xi32> {mtc.name = "mtc.row_label_class"},
// CHECK-SAME: tensor<5xf32> {mtc.name = "mtc.row_confidence"}, tensor<5x7xf32> {mtc.name = "mtc.row_class_scores"})
func.func @forward(%x: tensor<5x7xf32> {mtc.name = "x"}) -> (tensor<5x7xf32> {mtc.name = "logits"}) {
  return %x : tensor<5x7xf32>
}
// given @evaluate a0 = [[1, 5, 3, 5, 0, 0, 0], [6, 5, 4, 3, 2, 1, 0], [6, 5, 4, 3, 2, 1, 0], [0, 0, 0, 0, 0, 0, 8], [0, 1, nan, 2, 3, 4, 5]]
// given @evaluate a1 = [3, 5, 4, 9, 6]
// expect @evaluate = (lambda l: (l.mean(), l, np.array([1, 1, 1, 0, 1]), np.array([1, 0, 0, 0, 0]), np.array([1, 0, 1, 0, 1]), np.array([1, 0, 0, -1, 7]), np.array([3, 5, 4, -1, 6]), (lambda e: 1 / e.sum(-1))(np.exp(a0 - a0.max(-1, keepdims=True))), (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a0 - a0.max(-1, keepdims=True)))))(np.where(a1 == 9, 0, np.log(np.exp(a0).sum(1)) - a0[np.arange(5), np.minimum(a1, 6)]))

//--- weights.mlir
// With class weights, the number of targets is a separate sum.
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME: {mtc.name = "mtc.row_weight"}, tensor<2xf32> {mtc.name = "mtc.row_targets"}, tensor<2xf32> {mtc.name = "mtc.row_correct"}
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @evaluate a0 = [[1, 1, 1], [3, 3, 1]]
// given @evaluate a1 = [1, -100]
// expect @evaluate = np.log(3), np.array([2 * np.log(3), 0]), np.array([2, 0]), np.array([1, 0]), np.array([1, 0]), np.array([0, -1]), np.array([1, -1]), (lambda e: 1 / e.sum(-1))(np.exp(a0 - a0.max(-1, keepdims=True))), (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a0 - a0.max(-1, keepdims=True)))

//--- binary.mlir
// Class 1 of two is the positive one; its score is the difference of the logits.
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME: {mtc.name = "mtc.row_correct"}, tensor<4xf32> {mtc.name = "mtc.row_true_positives"},
// CHECK-SAME: tensor<4xf32> {mtc.name = "mtc.row_predicted_positives"}, tensor<4xf32> {mtc.name = "mtc.row_positives"},
// CHECK-SAME: tensor<4xf32> {mtc.name = "mtc.row_score"}, tensor<4xi32> {mtc.name = "mtc.row_label_class"})
func.func @forward(%x: tensor<4x2xf32> {mtc.name = "x"}) -> (tensor<4x2xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x2xf32>
}
// given @evaluate a0 = [[0, 1], [0, 1], [1, 0], [0, 1]]
// given @evaluate a1 = [1, 0, 1, -100]
// expect @evaluate = (lambda l: (l.sum() / 3, l, np.array([1, 1, 1, 0]), np.array([1, 0, 0, 0]), np.array([1, 0, 0, 0]), np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), a0[:, 1] - a0[:, 0], np.array([1, 0, 1, -1])))(np.array([0.3132617, 1.3132617, 1.3132617, 0]))

//--- image.mlir
// Each pixel has a class. Only samples of one target have the scores of all classes.
// CHECK: tensor<2x8x9xi32> {mtc.name = "mtc.row_predicted_class"}, tensor<2x8x9xi32> {mtc.name = "mtc.row_label_class"}, tensor<2x8x9xf32> {mtc.name = "mtc.row_confidence"})
func.func @forward(%x: tensor<2x3x8x9xf32> {mtc.name = "x"}) -> (tensor<2x3x8x9xf32> {mtc.name = "mask"}) {
  return %x : tensor<2x3x8x9xf32>
}

//--- soft.mlir
// The label is the class with the largest probability.
// CHECK: {mtc.name = "mtc.row_correct"}, tensor<2xi32> {mtc.name = "mtc.row_predicted_class"}, tensor<2xi32> {mtc.name = "mtc.row_label_class"}
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @evaluate a0 = [[0, 1, 2], [0, 3, 0]]
// given @evaluate a1 = [[0.5, 0.25, 0.25], [0, 1, 0]]
// expect @evaluate = (lambda l: (l.mean(), l, np.ones(2), np.array([0, 1]), np.array([2, 1]), np.array([0, 1]), (lambda e: 1 / e.sum(-1))(np.exp(a0 - a0.max(-1, keepdims=True))), (lambda e: e / e.sum(-1, keepdims=True))(np.exp(a0 - a0.max(-1, keepdims=True)))))(-(a1 * (a0 - np.log(np.exp(a0).sum(1, keepdims=True)))).sum(1))

//--- labels.mlir
// With several labels per sample, a probability above 0.5 is positive.
// CHECK: {mtc.name = "mtc.row_correct"}, tensor<2xf32> {mtc.name = "mtc.row_micro_true_positives"},
// CHECK-SAME: tensor<2xf32> {mtc.name = "mtc.row_micro_predicted_positives"}, tensor<2xf32> {mtc.name = "mtc.row_micro_positives"},
// CHECK-SAME: tensor<2x3xf32> {mtc.name = "mtc.row_class_scores"}, tensor<2x3xi32> {mtc.name = "mtc.row_label_class"})
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "logits"}) {
  return %x : tensor<2x3xf32>
}
// given @evaluate a0 = [[0, 1, -2], [3, 3, -1]]
// given @evaluate a1 = [[0.25, 1, 1], [0, 1, 0.5]]
// expect @evaluate = (lambda l: (l.mean(), l.sum(1), np.full(2, 3), np.array([2, 2]), np.array([1, 1]), np.array([1, 2]), np.array([2, 1]), a0, a1 > 0.5))(np.log1p(np.exp(a0)) - a0 * a1)

//--- label.mlir
// CHECK: {mtc.name = "mtc.row_true_positives"}
func.func @forward(%x: tensor<4x1xf32> {mtc.name = "x"}) -> (tensor<4x1xf32> {mtc.name = "logits"}) {
  return %x : tensor<4x1xf32>
}

//--- errors.mlir
// CHECK: {mtc.name = "mtc.row_weight"}, tensor<2xf32> {mtc.name = "mtc.row_absolute_error"}, tensor<2xf32> {mtc.name = "mtc.row_squared_error"},
// CHECK-SAME: tensor<2xf32> {mtc.name = "mtc.row_label_mean"}, tensor<2xf32> {mtc.name = "mtc.row_label_deviation"})
func.func @forward(%x: tensor<2x3xf32> {mtc.name = "x"}) -> (tensor<2x3xf32> {mtc.name = "y"}) {
  return %x : tensor<2x3xf32>
}
// expect @evaluate = (lambda d: (d.mean(), d.sum(1), np.full(2, 3), d.sum(1), (d ** 2).sum(1), a1.mean(1), a1.var(1) * 3))(np.abs(a0 - a1))

//--- scalars.mlir
func.func @forward(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
  return %x : tensor<4xf32>
}
// expect @evaluate = (lambda d: ((d ** 2).mean(), d ** 2, np.ones(4), d, d ** 2, a1, np.zeros(4)))(np.abs(a0 - a1))

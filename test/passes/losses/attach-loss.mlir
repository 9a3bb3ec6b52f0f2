// Each loss is attached to the imported module.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss=loss=cross-entropy | FileCheck %t/classes.mlir
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=mse labels=target" | FileCheck %t/classes.mlir --check-prefix=MSE
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss=loss=l1 | FileCheck %t/classes.mlir --check-prefix=L1
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss=loss=bce-with-logits | FileCheck %t/classes.mlir --check-prefix=BCE
// RUN: mtc-opt %t/tokens.mlir --mtc-attach-loss=loss=causal-lm | FileCheck %t/tokens.mlir
// RUN: mtc-opt %t/image.mlir --mtc-attach-loss=loss=cross-entropy | FileCheck %t/image.mlir
// RUN: mtc-opt %t/labels_inside.mlir --mtc-attach-loss="loss=cross-entropy labels=y" | FileCheck %t/labels_inside.mlir
// RUN: mtc-opt %t/loss_inside.mlir --mtc-attach-loss=loss=output | FileCheck %t/loss_inside.mlir
// RUN: mtc-opt %t/wide.mlir --mtc-attach-loss=loss=mse | FileCheck %t/wide.mlir --check-prefix=F64
// RUN: mtc-opt %t/narrow.mlir --mtc-attach-loss=loss=mse | FileCheck %t/narrow.mlir --check-prefix=F16

//--- classes.mlir
mtc.variable state @seen : tensor<4x3xf32> = #mtc.zeros
func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"})
    -> (tensor<4x3xf32> {mtc.name = "logits"}, tensor<4xi64> {mtc.name = "ids"}) {
  %y = mtc.tanh %x : tensor<4x3xf32>
  mtc.write @seen, %y : tensor<4x3xf32>
  %i = mtc.iota 0 : tensor<4xi64>
  return %y, %i : tensor<4x3xf32>, tensor<4xi64>
}

// CHECK: mtc.program "model" stage forward loss "cross-entropy" {
// CHECK-NEXT: mtc.input "x"{{$}}
// CHECK-NEXT: mtc.input "labels" label indices <minimum = 0, limit = 3, ignored = -100, user = "the loss">
// CHECK-NEXT: }
// CHECK-NOT: @forward

// The training step returns only the loss, and keeps the forward function's writes.
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "x"},
// CHECK-SAME: %[[LABELS:[a-z0-9]+]]: tensor<4xi64> {mtc.name = "labels"})
// CHECK-SAME: -> (tensor<f32> {mtc.name = "mtc.loss"})
// CHECK: %[[Y:.*]] = mtc.tanh %[[X]]
// CHECK: mtc.write @seen, %[[Y]]
// CHECK: %[[LOSSES:.*]] = mtc.softmax_cross_entropy %[[Y]], %[[LABELS]] ignore -100
// CHECK: %[[IGNORED:.*]] = mtc.constant dense<-100> : tensor<4xi64>
// CHECK: %[[COUNTS:.*]] = mtc.compare ne %[[LABELS]], %[[IGNORED]]
// CHECK: %[[WEIGHTS:.*]] = mtc.cast %[[COUNTS]] : tensor<4xi1> -> tensor<4xf32>
// CHECK-DAG: %[[SUM:.*]] = mtc.reduce add %[[LOSSES]] axes [0]
// CHECK-DAG: %[[COUNT:.*]] = mtc.reduce add %[[WEIGHTS]] axes [0]
// CHECK: %[[LOSS:.*]] = mtc.div %[[SUM]], %[[COUNT]] : tensor<f32>
// CHECK: return %[[LOSS]] : tensor<f32>

// Evaluation sums the rows' contributions and writes nothing.
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "x"}, %[[LABELS:[a-z0-9]+]]: tensor<4xi64>
// CHECK-SAME: -> (tensor<f32> {mtc.name = "mtc.loss"}, tensor<4xf32> {mtc.name = "mtc.row_loss"},
// CHECK-SAME: tensor<4xf32> {mtc.name = "mtc.row_weight"}, tensor<4xf32> {mtc.name = "mtc.row_correct"},
// CHECK-SAME: tensor<4xi32> {mtc.name = "mtc.row_predicted_class"}, tensor<4xi32> {mtc.name = "mtc.row_label_class"},
// CHECK-SAME: tensor<4xf32> {mtc.name = "mtc.row_confidence"}, tensor<4x3xf32> {mtc.name = "mtc.row_class_scores"})
// CHECK: %[[Y:.*]] = mtc.tanh %[[X]]
// CHECK-NOT: mtc.write
// CHECK: %[[LOSSES:.*]] = mtc.softmax_cross_entropy
// CHECK: %[[WEIGHTS:.*]] = mtc.cast
// CHECK: %[[LOSS:.*]] = mtc.div
// CHECK: %[[COUNTS:.*]] = mtc.compare ne %[[LABELS]]
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0>
// CHECK: %[[SAFE:.*]] = mtc.select %[[COUNTS]], %[[LABELS]], %[[ZERO]]
// CHECK: %[[OWN:.*]] = mtc.gather %[[Y]], %[[SAFE]] axis 1 batch 1
// CHECK: %[[OWNS:.*]] = mtc.broadcast %[[OWN]] axes [1]
// CHECK: %[[LOWER:.*]] = mtc.compare le %[[Y]], %[[OWNS]]
// CHECK: %[[LARGER:.*]] = mtc.not %[[LOWER]]
// CHECK: %[[ONES:.*]] = mtc.cast %[[LARGER]]
// CHECK: %[[RANK:.*]] = mtc.reduce add %[[ONES]] axes [1]
// CHECK: %[[FIRST:.*]] = mtc.compare lt %[[RANK]]
// CHECK: %[[RIGHT:.*]] = mtc.and %[[COUNTS]], %[[FIRST]]
// CHECK: %[[CORRECT:.*]] = mtc.cast %[[RIGHT]] : tensor<4xi1> -> tensor<4xf32>
// CHECK: %[[PREDICTED:.*]] = mtc.reduce min %{{.*}} axes [1] : tensor<4x3xi32> -> tensor<4xi32>
// CHECK: return %[[LOSS]], %[[LOSSES]], %[[WEIGHTS]], %[[CORRECT]], %{{.*}}, %{{.*}} :

// The outputs are a separate function without the labels.
// CHECK-LABEL: func.func @outputs(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "x"})
// CHECK-SAME: -> (tensor<4x3xf32> {mtc.name = "logits"}, tensor<4xi64> {mtc.name = "ids"}) attributes {mtc.separate_arena}
// CHECK: %[[Y:.*]] = mtc.tanh %[[X]]
// CHECK-NOT: mtc.write
// CHECK: return %[[Y]],

// MSE: mtc.input "target" label{{$}}
// MSE-LABEL: func.func @micro_step(
// MSE-SAME: %[[TARGET:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "target"})
// MSE: %[[Y:.*]] = mtc.tanh
// MSE: %[[D:.*]] = mtc.sub %[[Y]], %[[TARGET]]
// MSE: %[[SQUARES:.*]] = mtc.mul %[[D]], %[[D]]
// MSE: %[[SUM:.*]] = mtc.reduce add %[[SQUARES]] axes [0, 1]
// MSE: %[[COUNT:.*]] = mtc.constant dense<1.200000e+01> : tensor<f32>
// MSE: mtc.div %[[SUM]], %[[COUNT]]
// MSE-LABEL: func.func @evaluate(
// MSE-SAME: "mtc.row_loss"
// MSE-SAME: "mtc.row_weight"
// MSE-NOT: "mtc.row_correct"
// MSE: %[[SQUARES:.*]] = mtc.mul
// MSE: %[[ONES:.*]] = mtc.constant dense<1.000000e+00> : tensor<4x3xf32>
// MSE: mtc.reduce add %[[SQUARES]] axes [1] : tensor<4x3xf32> -> tensor<4xf32>
// MSE: mtc.reduce add %[[ONES]] axes [1]

// L1-LABEL: func.func @micro_step
// L1: %[[D:.*]] = mtc.sub
// L1: %[[A:.*]] = mtc.abs %[[D]]
// L1: mtc.reduce add %[[A]] axes [0, 1]

// BCE-LABEL: func.func @micro_step(
// BCE-SAME: %[[LABELS:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "labels"})
// BCE: %[[X:.*]] = mtc.tanh
// BCE-DAG: %[[P:.*]] = mtc.max %[[X]], %{{.*}}
// BCE-DAG: %[[A:.*]] = mtc.abs %[[X]]
// BCE-DAG: %[[N:.*]] = mtc.neg %[[A]]
// BCE-DAG: %[[E:.*]] = mtc.exp %[[N]]
// BCE-DAG: %[[T:.*]] = mtc.log1p %[[E]]
// BCE-DAG: %[[XY:.*]] = mtc.mul %[[X]], %[[LABELS]]
// BCE-DAG: %[[S:.*]] = mtc.sub %[[P]], %[[XY]]
// BCE: mtc.add %[[S]], %[[T]]

//--- tokens.mlir
func.func @forward(%ids: tensor<2x5xi64> {mtc.name = "input_ids"}, %mask: tensor<2x5xi1> {mtc.name = "mask"})
    -> (tensor<2x5x7xf32> {mtc.name = "logits"}) {
  %c = mtc.constant dense<0.5> : tensor<2x5x7xf32>
  return %c : tensor<2x5x7xf32>
}
// CHECK: mtc.input "labels" label shifted_from "input_ids" indices <minimum = 0, limit = 7, ignored = -100, user = "the loss">
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: tensor<2x5xi64> {mtc.name = "labels"})
// CHECK: mtc.softmax_cross_entropy {{.*}} -> tensor<2x5xf32>
// CHECK: mtc.reduce add %{{.*}} axes [0, 1] : tensor<2x5xf32> -> tensor<f32>
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME: tensor<2xf32> {mtc.name = "mtc.row_loss"}, tensor<2xf32> {mtc.name = "mtc.row_weight"}, tensor<2xf32> {mtc.name = "mtc.row_correct"}, tensor<2xf32> {mtc.name = "mtc.row_top5_correct"}, tensor<2xf32> {mtc.name = "mtc.row_negative_log_likelihood"}

//--- image.mlir
// Without labels in the graph, the classes of an image are on axis 1.
func.func @forward(%x: tensor<2x3x8x9xf32> {mtc.name = "x"}) -> (tensor<2x3x8x9xf32> {mtc.name = "mask"}) {
  return %x : tensor<2x3x8x9xf32>
}
// CHECK: mtc.input "labels" label indices <minimum = 0, limit = 3,
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x8x9xf32> {{.*}}, %[[LABELS:[a-z0-9]+]]: tensor<2x8x9xi64>
// CHECK: %[[T:.*]] = mtc.transpose %[[X]] [0, 2, 3, 1]
// CHECK: mtc.softmax_cross_entropy %[[T]], %[[LABELS]]
// CHECK-LABEL: func.func @evaluate
// CHECK: mtc.gather %{{.*}}, %{{.*}} axis 3 batch 3 : tensor<2x8x9x3xf32>, tensor<2x8x9xi64> -> tensor<2x8x9xf32>

//--- labels_inside.mlir
// An input of the graph has the labels. Its shape implies that the classes are on axis 1.
func.func @forward(%x: tensor<2x3x8xf32> {mtc.name = "x"}, %y: tensor<2x8xi32> {mtc.name = "y"})
    -> (tensor<2x3x8xf32> {mtc.name = "scores"}) {
  return %x : tensor<2x3x8xf32>
}
// CHECK: mtc.input "y" label indices <minimum = 0, limit = 3, ignored = -100, user = "the loss">
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x8xf32> {mtc.name = "x"},
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<2x8xi32> {mtc.name = "y"}) ->
// CHECK: %[[T:.*]] = mtc.transpose %[[X]] [0, 2, 1]
// CHECK: mtc.softmax_cross_entropy %[[T]], %[[Y]]

//--- loss_inside.mlir
// An output of one element is the loss. It remains an output under its own name.
func.func @forward(%x: tensor<1xf32> {mtc.name = "x"}, %y: tensor<2xi64> {mtc.name = "labels"})
    -> (tensor<1xf32> {mtc.name = "loss"}) {
  return %x : tensor<1xf32>
}
// CHECK: mtc.program "model" stage forward loss "output"
// CHECK: mtc.input "labels" label{{$}}
// CHECK-LABEL: func.func @micro_step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1xf32> {{.*}}, %{{.*}}: tensor<2xi64> {mtc.name = "labels"})
// CHECK: %[[L:.*]] = mtc.reshape %[[X]] : tensor<1xf32> -> tensor<f32>
// CHECK: return %[[L]]
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME: -> (tensor<f32> {mtc.name = "mtc.loss"})
// CHECK-LABEL: func.func @outputs
// CHECK-SAME: -> (tensor<1xf32> {mtc.name = "loss"}) attributes {mtc.separate_arena}

//--- wide.mlir
func.func @forward(%x: tensor<4x3xf64> {mtc.name = "x"}) -> (tensor<4x3xf64> {mtc.name = "y"}) {
  return %x : tensor<4x3xf64>
}
// The rows' sums are f32 anyway.
// F64: func.func @micro_step({{.*}}tensor<4x3xf64> {mtc.name = "labels"}) -> (tensor<f64> {mtc.name = "mtc.loss"})
// F64: func.func @evaluate({{.*}} -> (tensor<f64> {mtc.name = "mtc.loss"}, tensor<4xf32> {mtc.name = "mtc.row_loss"}

//--- narrow.mlir
func.func @forward(%x: tensor<4x3xf16> {mtc.name = "x"}) -> (tensor<4x3xf16> {mtc.name = "y"}) {
  return %x : tensor<4x3xf16>
}
// F16: func.func @micro_step({{.*}}%[[LABELS:[a-z0-9]+]]: tensor<4x3xf32> {mtc.name = "labels"}) -> (tensor<f32> {mtc.name = "mtc.loss"})
// F16: %[[Y:.*]] = mtc.cast %{{.*}} : tensor<4x3xf16> -> tensor<4x3xf32>
// F16: mtc.sub %[[Y]], %[[LABELS]]

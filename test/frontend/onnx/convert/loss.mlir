// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// The mean over the valid targets. Classes move to the last axis.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x5x3xf32>, %[[T:.*]]: tensor<2x3xi64>)
// CHECK: %[[Z:.*]] = mtc.transpose %[[X]] [0, 2, 1] : tensor<2x5x3xf32> -> tensor<2x3x5xf32>
// CHECK: %[[L:.*]] = mtc.softmax_cross_entropy %[[Z]], %[[T]] ignore -100
// CHECK: %[[C:.*]] = mtc.compare ne %[[T]]
// CHECK: %[[W:.*]] = mtc.select %[[C]]
// CHECK: %[[S:.*]] = mtc.reduce add %[[L]] axes [0, 1]
// CHECK: %[[N:.*]] = mtc.reduce add %[[W]] axes [0, 1]
// CHECK: mtc.div %[[S]], %[[N]]
onnx.graph @main(%x: tensor<2x5x3xf32>, %t: tensor<2x3xi64>) -> tensor<f32> {
  %l = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%x, %t) {ignore_index = -100 : si64} : (tensor<2x5x3xf32>, tensor<2x3xi64>) -> tensor<f32>
  onnx.return %l : tensor<f32>
}

// -----

// Without an ignored label, every target is valid.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[T:.*]]: tensor<4xi64>)
// CHECK: %[[L:.*]] = mtc.softmax_cross_entropy %[[X]], %[[T]] ignore -9223372036854775808
// CHECK: %[[S:.*]] = mtc.reduce add %[[L]] axes [0]
// CHECK: %[[N:.*]] = mtc.constant dense<2.500000e-01>
// CHECK: mtc.mul %[[S]], %[[N]]
// CHECK: mtc.log
onnx.graph @main(%x: tensor<4x5xf32>, %t: tensor<4xi64>) -> (tensor<f32>, tensor<4x5xf32>) {
  %l, %p = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%x, %t) {} : (tensor<4x5xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x5xf32>)
  onnx.return %l, %p : tensor<f32>, tensor<4x5xf32>
}

// -----

// With label smoothing s = 0.2 and 5 classes: (1 - s) of each valid loss, minus s / 5 of the sum of all classes' weighted
// logarithms.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[T:.*]]: tensor<4xi64>, %[[W:.*]]: tensor<5xf32>)
// CHECK: %[[L:.*]] = mtc.softmax_cross_entropy %[[X]], %[[T]] ignore 3
// CHECK: %[[LW:.*]] = mtc.mul %[[L]], %{{.*}}
// CHECK: mtc.log
// CHECK: %[[LOGP:.*]] = mtc.sub
// CHECK: %[[ALL:.*]] = mtc.broadcast %[[W]]
// CHECK: %[[WEIGHTED:.*]] = mtc.mul %[[LOGP]], %[[ALL]]
// CHECK: %[[SUM:.*]] = mtc.reduce add %[[WEIGHTED]] axes [1]
// CHECK: %[[UNIFORM:.*]] = mtc.select %{{.*}}, %[[SUM]], %{{.*}}
// CHECK: %[[OWN:.*]] = mtc.constant dense<8.000000e-01>
// CHECK: %[[A:.*]] = mtc.mul %[[LW]], %[[OWN]]
// CHECK: %[[SHARE:.*]] = mtc.constant dense<4.000000e-02>
// CHECK: %[[B:.*]] = mtc.mul %[[UNIFORM]], %[[SHARE]]
// CHECK: %[[S:.*]] = mtc.sub %[[A]], %[[B]]
// CHECK: %[[R:.*]] = mtc.reduce add %[[S]] axes [0]
// CHECK: mtc.div %[[R]], %{{.*}}
onnx.graph @main(%x: tensor<4x5xf32>, %t: tensor<4xi64>, %w: tensor<5xf32>) -> tensor<f32> {
  %l = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%x, %t, %w) {ignore_index = 3 : si64, reduction = "mean"} {onnx.label_smoothing = 2.000000e-01 : f64} : (tensor<4x5xf32>, tensor<4xi64>, tensor<5xf32>) -> tensor<f32>
  onnx.return %l : tensor<f32>
}

// -----

// With class weights, the weight of an ignored target is 0, and it reads class 0.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x6xf32>, %[[T:.*]]: tensor<4xi64>, %[[W:.*]]: tensor<6xf32>)
// CHECK: %[[SAFE:.*]] = mtc.select %{{.*}}, %[[T]], %{{.*}}
// CHECK: %[[G:.*]] = mtc.gather %[[X]], %[[SAFE]] axis 1 batch 1 : tensor<4x6xf32>, tensor<4xi64> -> tensor<4xf32>
// CHECK: mtc.neg %[[G]]
// CHECK: mtc.gather %[[W]], %{{.*}} axis 0 batch 0 : tensor<6xf32>, tensor<4xi64> -> tensor<4xf32>
// CHECK: mtc.reduce add
// CHECK-NOT: mtc.div
// CHECK: return
onnx.graph @main(%x: tensor<4x6xf32>, %t: tensor<4xi64>, %w: tensor<6xf32>) -> tensor<f32> {
  %l = onnx.node "NegativeLogLikelihoodLoss" version 13 (%x, %t, %w) {ignore_index = 2 : si64, reduction = "sum"} : (tensor<4x6xf32>, tensor<4xi64>, tensor<6xf32>) -> tensor<f32>
  onnx.return %l : tensor<f32>
}

// Type inference of losses of class scores.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @mean
// CHECK: onnx.node "SoftmaxCrossEntropyLoss"
// CHECK-SAME: -> (tensor<f32>, tensor<8x10xf32>){{$}}
onnx.graph @mean(%a: tensor<8x10xf32>, %b: tensor<8xi64>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%a, %b) {} : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @none
// CHECK: onnx.node "SoftmaxCrossEntropyLoss"
// CHECK-SAME: -> tensor<8x4xf32>{{$}}
onnx.graph @none(%a: tensor<8x10x4xf32>, %b: tensor<8x4xi64>, %c: tensor<10xf32>) -> tensor<*xindex> {
  %r = onnx.node "SoftmaxCrossEntropyLoss" version 13 (%a, %b, %c) {reduction = "none", ignore_index = -100 : si64} : (tensor<8x10x4xf32>, tensor<8x4xi64>, tensor<10xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @negativeLogLikelihood
// CHECK: onnx.node "NegativeLogLikelihoodLoss"
// CHECK-SAME: -> tensor<f32>{{$}}
onnx.graph @negativeLogLikelihood(%a: tensor<8x10xf32>, %b: tensor<8xi64>) -> tensor<*xindex> {
  %r = onnx.node "NegativeLogLikelihoodLoss" version 13 (%a, %b) {reduction = "sum"} : (tensor<8x10xf32>, tensor<8xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

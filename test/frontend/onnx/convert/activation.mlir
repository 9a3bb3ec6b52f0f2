// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// The gradient of Relu at 0 is 0, and NaN propagates: `x <= 0` is false for it.

// CHECK: func.func @forward(%[[X:.*]]: tensor<1xf32>)
// CHECK: %[[ZERO:.*]] = mtc.constant dense<0.000000e+00>
// CHECK: %[[LE:.*]] = mtc.compare le %[[X]], %[[ZERO]]
// CHECK: mtc.select %[[LE]], %[[ZERO]], %[[X]]
onnx.graph @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = onnx.node "Relu" version 14 (%x) {} : (tensor<1xf32>) -> tensor<1xf32>
  onnx.return %y : tensor<1xf32>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<2xf32>)
// CHECK: %[[S:.*]] = mtc.constant dense<0.707106769>
// CHECK: %[[A:.*]] = mtc.mul %[[X]], %[[S]]
// CHECK: %[[E:.*]] = mtc.erf %[[A]]
// CHECK: %[[HX:.*]] = mtc.mul %[[X]], %{{.*}}
// CHECK: %[[P:.*]] = mtc.add %{{.*}}, %[[E]]
// CHECK: mtc.mul %[[HX]], %[[P]]
onnx.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.node "Gelu" version 20 (%x) {} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.return %y : tensor<2xf32>
}

// -----

// CHECK: func.func @forward(%[[X:.*]]: tensor<3xf32>)
// CHECK: mtc.constant dense<4.471500e-02>
// CHECK: mtc.constant dense<0.797884583>
// CHECK: mtc.tanh
// CHECK-NOT: mtc.erf
onnx.graph @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = onnx.node "Gelu" version 20 (%x) {approximate = "tanh"} : (tensor<3xf32>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

// -----

// The operand of the exponential is 0 where it is not selected, so that its derivative stays finite.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[SAFE:.*]] = mtc.select %{{.*}}, %{{.*}}, %[[X]]
// CHECK: %[[E:.*]] = mtc.expm1 %[[SAFE]]
// CHECK: %[[S:.*]] = mtc.mul %{{.*}}, %[[E]]
// CHECK: mtc.select %{{.*}}, %[[X]], %[[S]]
onnx.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.node "Elu" version 22 (%x) {alpha = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

// -----

// max(x, 0) + log1p(exp(-|x|))

// CHECK: func.func @forward(%[[X:.*]]: tensor<5xf32>)
// CHECK: %[[M:.*]] = mtc.max %[[X]], %{{.*}}
// CHECK: %[[A:.*]] = mtc.abs %[[X]]
// CHECK: %[[N:.*]] = mtc.neg %[[A]]
// CHECK: %[[E:.*]] = mtc.exp %[[N]]
// CHECK: %[[L:.*]] = mtc.log1p %[[E]]
// CHECK: mtc.add %[[M]], %[[L]]
onnx.graph @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = onnx.node "Softplus" version 22 (%x) {} : (tensor<5xf32>) -> tensor<5xf32>
  onnx.return %y : tensor<5xf32>
}

// -----

// Clip's bounds are optional scalar operands, before version 11 attributes.

// CHECK: func.func @forward(%[[X:.*]]: tensor<6xf32>, %[[H:.*]]: tensor<f32>)
// CHECK: %[[B:.*]] = mtc.broadcast %[[H]] axes [0]
// CHECK: %[[Y:.*]] = mtc.min %[[X]], %[[B]]
// CHECK: %[[LOW:.*]] = mtc.constant dense<-1.000000e+00>
// CHECK: %[[LE:.*]] = mtc.compare le %[[Y]], %[[LOW]]
// CHECK: %[[Z:.*]] = mtc.select %[[LE]], %[[LOW]], %[[Y]]
// CHECK: return %[[Z]]
onnx.graph @main(%x: tensor<6xf32>, %high: tensor<f32>) -> tensor<6xf32> {
  %none = onnx.none
  %y = onnx.node "Clip" version 13 (%x, %none, %high) {} : (tensor<6xf32>, none, tensor<f32>) -> tensor<6xf32>
  %z = onnx.node "Clip" version 6 (%y) {min = -1.0 : f32} : (tensor<6xf32>) -> tensor<6xf32>
  onnx.return %z : tensor<6xf32>
}

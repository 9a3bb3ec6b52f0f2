// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// In inference, and with a ratio of 0, dropout is the identity.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT: %[[M:.*]] = mtc.constant dense<true> : tensor<2xi1>
// CHECK-NEXT: return %[[X]], %[[X]], %[[M]]
onnx.graph @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) {
  %r = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %t = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "Dropout" version 13 (%x) {} : (tensor<2xf32>) -> tensor<2xf32>
  %z, %m = onnx.node "Dropout" version 13 (%x, %r, %t) {} : (tensor<2xf32>, tensor<f32>, tensor<i1>) -> (tensor<2xf32>, tensor<2xi1>)
  onnx.return %y, %z, %m : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}

// -----

// In training, the mask depends on the seed and the step, with a separate stream for each node.

// CHECK: mtc.variable scalar @mtc.seed : tensor<i64> = #mtc.scalar<seed>
// CHECK: mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
// CHECK: func.func @forward(%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[SEED:.*]] = mtc.read @mtc.seed
// CHECK-DAG: %[[STEP:.*]] = mtc.read @mtc.step
// CHECK: %[[BITS:.*]] = mtc.random_bits %[[SEED]], %[[STEP]] stream 0 : (tensor<i64>, tensor<i64>) -> tensor<4xi32>
// CHECK: %[[T:.*]] = mtc.constant dense<-1073741824> : tensor<4xi32>
// CHECK: %[[KEEP:.*]] = mtc.compare ge %[[BITS]], %[[T]]
// CHECK: %[[S:.*]] = mtc.mul %[[X]], %{{.*}}
// CHECK: %[[D:.*]] = mtc.select %[[KEEP]], %[[S]], %{{.*}}
// CHECK: mtc.select_by_mode training %[[D]] inference %[[X]] : tensor<4xf32>
// CHECK: mtc.random_bits %[[SEED]], %[[STEP]] stream 1
// CHECK: mtc.constant dense<0> : tensor<4xi32>
onnx.graph @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %none = onnx.none
  %r = onnx.constant dense<0.25> : tensor<f32> -> tensor<f32>
  %t = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "Dropout" version 13 (%x, %r, %t) {} : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> tensor<4xf32>
  %z = onnx.node "Dropout" version 13 (%y, %none, %t) {} : (tensor<4xf32>, none, tensor<i1>) -> tensor<4xf32>
  onnx.return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// The mask is true in inference.

// CHECK: func.func @forward
// CHECK: %[[KEEP:.*]] = mtc.compare ge
// CHECK: %[[ALL:.*]] = mtc.constant dense<true> : tensor<4xi1>
// CHECK: %[[M:.*]] = mtc.select_by_mode training %[[KEEP]] inference %[[ALL]] : tensor<4xi1>
// CHECK: return %{{.*}}, %[[M]]
onnx.graph @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %r = onnx.constant dense<0.25> : tensor<f32> -> tensor<f32>
  %t = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y, %m = onnx.node "Dropout" version 13 (%x, %r, %t) {} : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xi1>)
  onnx.return %y, %m : tensor<4xf32>, tensor<4xi1>
}

// -----

onnx.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = onnx.constant dense<1.5> : tensor<f32> -> tensor<f32>
  %t = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{Dropout version 13: operand 1 (ratio) = 1.5, expected at least 0 and below 1}}
  %y = onnx.node "Dropout" version 13 (%x, %r, %t) {} : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> tensor<4xf32>
  onnx.return %y : tensor<4xf32>
}

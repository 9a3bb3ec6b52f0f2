// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// Layer normalization computes the mean, the variance of the centered elements, scale and bias. The statistics are results too.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x4xf32>, %[[G:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[S:.*]] = mtc.reduce add %[[X]] axes [1]
// CHECK: %[[N:.*]] = mtc.constant dense<2.500000e-01>
// CHECK: %[[M:.*]] = mtc.mul %[[S]], %[[N]]
// CHECK: %[[MB:.*]] = mtc.broadcast %[[M]] axes [1]
// CHECK: %[[C:.*]] = mtc.sub %[[X]], %[[MB]]
// CHECK: %[[Q:.*]] = mtc.mul %[[C]], %[[C]]
// CHECK: mtc.reduce add %[[Q]] axes [1]
// CHECK: %[[I:.*]] = mtc.rsqrt
// CHECK: %[[IB:.*]] = mtc.broadcast %[[I]] axes [1]
// CHECK: %[[Z:.*]] = mtc.mul %[[C]], %[[IB]]
// CHECK: %[[GB:.*]] = mtc.broadcast %[[G]] axes [0]
// CHECK: %[[ZG:.*]] = mtc.mul %[[Z]], %[[GB]]
// CHECK: mtc.add %[[ZG]], %{{.*}}
// CHECK: mtc.reshape %[[M]] : tensor<2xf32> -> tensor<2x1xf32>
// CHECK: mtc.reshape %[[I]] : tensor<2xf32> -> tensor<2x1xf32>
onnx.graph @main(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  %y, %m, %i = onnx.node "LayerNormalization" version 17 (%x, %g, %b) {axis = -1 : si64, epsilon = 1.0e-5 : f32} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  onnx.return %y, %m, %i : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>
}

// -----

// The arithmetic uses stash_type, f32, and scale is applied in the type of the data.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x8xf16>, %[[G:.*]]: tensor<8xf16>)
// CHECK: %[[W:.*]] = mtc.cast %[[X]] : tensor<2x8xf16> -> tensor<2x8xf32>
// CHECK: mtc.mul %[[W]], %[[W]]
// CHECK: mtc.rsqrt %{{.*}} : tensor<2xf32>
// CHECK: %[[H:.*]] = mtc.cast %{{.*}} : tensor<2x8xf32> -> tensor<2x8xf16>
// CHECK: %[[GB:.*]] = mtc.broadcast %[[G]]
// CHECK: mtc.mul %[[H]], %[[GB]] : tensor<2x8xf16>
onnx.graph @main(%x: tensor<2x8xf16>, %g: tensor<8xf16>) -> tensor<2x8xf16> {
  %y = onnx.node "RMSNormalization" version 23 (%x, %g) {} : (tensor<2x8xf16>, tensor<8xf16>) -> tensor<2x8xf16>
  onnx.return %y : tensor<2x8xf16>
}

// -----

// Groups of two channels; a scale for each channel.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x4x3xf32>, %[[G:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = mtc.reshape %[[X]] : tensor<2x4x3xf32> -> tensor<2x2x6xf32>
// CHECK: mtc.reduce add %[[R]] axes [2]
// CHECK: mtc.broadcast %[[G]] axes [0, 2] : tensor<4xf32> -> tensor<2x4x3xf32>
onnx.graph @main(%x: tensor<2x4x3xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %y = onnx.node "GroupNormalization" version 21 (%x, %g, %b) {num_groups = 2 : si64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  onnx.return %y : tensor<2x4x3xf32>
}

// -----

// Batch normalization in training form: training steps use the batch's statistics and update the running ones, which are state; inference uses the
// running ones.

// CHECK: mtc.variable state @m
// CHECK: mtc.variable state @v
// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>, %[[G:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK: mtc.reduce{{ *}} add %[[X]] axes [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
// CHECK: mtc.rsqrt
// CHECK: mtc.broadcast %[[G]] axes [0, 2] : tensor<3xf32> -> tensor<2x3x4xf32>
// CHECK: %[[T:.*]] = mtc.add
// CHECK: %[[M:.*]] = mtc.read @m : tensor<3xf32>
// CHECK: mtc.read @v : tensor<3xf32>
// CHECK: %[[MB:.*]] = mtc.broadcast %[[M]] axes [0, 2]
// CHECK: mtc.sub %[[X]], %[[MB]]
// CHECK: %[[I:.*]] = mtc.add
// CHECK: %[[Y:.*]] = mtc.select_by_mode training %[[T]] inference %[[I]] : tensor<2x3x4xf32>
// CHECK: %[[OLD:.*]] = mtc.mul %[[M]], %{{.*}}
// CHECK: %[[SUM:.*]] = mtc.add %[[OLD]], %{{.*}}
// CHECK: %[[MOVED:.*]] = mtc.select_by_mode training %[[SUM]] inference %[[M]] : tensor<3xf32>
// CHECK: mtc.write @m, %[[MOVED]] : tensor<3xf32>
// CHECK: mtc.write @v, %{{.*}} : tensor<3xf32>
// CHECK: return %[[Y]] : tensor<2x3x4xf32>
onnx.graph @main(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %m = onnx.initializer "m" {role = "state"} : tensor<3xf32>
  %v = onnx.initializer "v" {role = "state"} : tensor<3xf32>
  %y, %rm, %rv = onnx.node "BatchNormalization" version 15 (%x, %g, %b, %m, %v) {training_mode = 1 : si64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.return %y : tensor<2x3x4xf32>
}

// -----

// A second node uses the first one's updated statistics, and only the last value is written. Before version 14, additional results indicate training
// form.

// CHECK: func.func @forward
// CHECK: %[[M:.*]] = mtc.read @m : tensor<3xf32>
// CHECK: %[[OLD:.*]] = mtc.mul %[[M]], %{{.*}}
// CHECK: %[[SUM:.*]] = mtc.add %[[OLD]], %{{.*}}
// CHECK: %[[MOVED:.*]] = mtc.select_by_mode training %[[SUM]] inference %[[M]]
// CHECK: mtc.mul %[[MOVED]], %{{.*}}
// CHECK: mtc.write @m,
// CHECK-NOT: mtc.write @m,
onnx.graph @main(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %n = onnx.none
  %m = onnx.initializer "m" {role = "state"} : tensor<3xf32>
  %v = onnx.initializer "v" {role = "state"} : tensor<3xf32>
  %y, %rm, %rv = onnx.node "BatchNormalization" version 9 (%x, %g, %b, %m, %v) {} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %z, %sm, %sv = onnx.node "BatchNormalization" version 9 (%y, %g, %b, %m, %v) {} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.return %z : tensor<2x3x4xf32>
}

// -----

// The inference form uses the running statistics and updates none.

// CHECK: func.func @forward(%[[X:.*]]: tensor<2x3x4xf32>, %[[G:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK: %[[V:.*]] = mtc.read @v : tensor<3xf32>
// CHECK: %[[I:.*]] = mtc.rsqrt
// CHECK: mtc.mul %[[G]], %[[I]]
// CHECK: %[[M:.*]] = mtc.read @m : tensor<3xf32>
// CHECK: %[[MB:.*]] = mtc.broadcast %[[M]] axes [0, 2]
// CHECK: mtc.sub %[[X]], %[[MB]]
// CHECK-NOT: mtc.write
onnx.graph @main(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %m = onnx.initializer "m" {role = "state"} : tensor<3xf32>
  %v = onnx.initializer "v" {role = "state"} : tensor<3xf32>
  %y = onnx.node "BatchNormalization" version 15 (%x, %g, %b, %m, %v) {} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  onnx.return %y : tensor<2x3x4xf32>
}

// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// Adding.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<2x1xi64>, %[[U:.*]]: tensor<2x5xf32>)
// CHECK: %[[P:.*]] = mtc.reshape %{{.*}} -> tensor<2xi64>
// CHECK: %[[S:.*]] = mtc.scatter_add %[[U]], %{{.*}} axis 0 batch 0 : tensor<2x5xf32>, tensor<2xi64> -> tensor<4x5xf32>
// CHECK: mtc.add %[[X]], %[[S]]
onnx.graph @main(%x: tensor<4x5xf32>, %i: tensor<2x1xi64>, %u: tensor<2x5xf32>) -> tensor<4x5xf32> {
  %y = onnx.node "ScatterND" version 18 (%x, %i, %u) {reduction = "add"} : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
  onnx.return %y : tensor<4x5xf32>
}

// -----

// Elements without an update keep the data; indices with smaller extents leave the rest unchanged.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<2x3xi64>, %[[U:.*]]: tensor<2x3xf32>)
// CHECK: %[[A:.*]] = mtc.scatter_add %{{.*}}, %[[IT:.*]] axis 1 batch 1 : tensor<3x2xf32>, tensor<3x2xi64> -> tensor<3x4xf32>
// CHECK: %[[AT:.*]] = mtc.transpose %[[A]] [1, 0]
// CHECK: %[[SUM:.*]] = mtc.pad %[[AT]] low [0, 0] high [0, 2]
// CHECK: mtc.scatter_add %{{.*}}, %[[IT]] axis 1 batch 1 : tensor<3x2xi32>
// CHECK: %[[COUNT:.*]] = mtc.pad %{{.*}} : tensor<4x3xi32> -> tensor<4x5xi32>
// CHECK: %[[W:.*]] = mtc.compare gt %[[COUNT]]
// CHECK: mtc.select %[[W]], %[[SUM]], %[[X]]
onnx.graph @main(%x: tensor<4x5xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %y = onnx.node "ScatterElements" version 18 (%x, %i, %u) {axis = 0 : si64} : (tensor<4x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x5xf32>
  onnx.return %y : tensor<4x5xf32>
}

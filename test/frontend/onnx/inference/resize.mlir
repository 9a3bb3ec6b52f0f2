// Interpolation.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @scales
// CHECK: onnx.node "Resize"
// CHECK-SAME: -> tensor<1x1x8x2xf32>{{$}}
onnx.graph @scales(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.constant dense<[1.0, 1.0, 2.0, 0.6]> : tensor<4xf32> -> tensor<4xf32>
  %r = onnx.node "Resize" version 19 (%a, %b, %c) {mode = "nearest"} : (tensor<1x1x4x4xf32>, none, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @sizes
// CHECK: onnx.node "Resize"
// CHECK-SAME: -> tensor<1x1x7x3xf32>{{$}}
onnx.graph @sizes(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.none
  %d = onnx.constant dense<[7, 3]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Resize" version 19 (%a, %b, %c, %d) {axes = array<i64: 2, 3>} : (tensor<1x1x4x4xf32>, none, none, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The smaller scale applies to all axes.
// CHECK-LABEL: onnx.graph @notLarger
// CHECK: onnx.node "Resize"
// CHECK-SAME: -> tensor<1x1x4x8xf32>{{$}}
onnx.graph @notLarger(%a: tensor<1x1x2x4xf32>) -> tensor<*xindex> {
  %b = onnx.none
  %c = onnx.none
  %d = onnx.constant dense<[7, 8]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Resize" version 19 (%a, %b, %c, %d) {axes = array<i64: 2, 3>, keep_aspect_ratio_policy = "not_larger"} : (tensor<1x1x2x4xf32>, none, none, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @version10
// CHECK: onnx.node "Resize"
// CHECK-SAME: -> tensor<1x1x8x8xf32>{{$}}
onnx.graph @version10(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32> -> tensor<4xf32>
  %r = onnx.node "Resize" version 10 (%a, %b) {} : (tensor<1x1x4x4xf32>, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @upsample
// CHECK: onnx.node "Upsample"
// CHECK-SAME: -> tensor<1x1x8x12xf32>{{$}}
onnx.graph @upsample(%a: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1.0, 1.0, 2.0, 3.0]> : tensor<4xf32> -> tensor<4xf32>
  %r = onnx.node "Upsample" version 9 (%a, %b) {} : (tensor<1x1x4x4xf32>, tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gridSample
// CHECK: onnx.node "GridSample"
// CHECK-SAME: -> tensor<2x3x6x7xf32>{{$}}
onnx.graph @gridSample(%a: tensor<2x3x4x5xf32>, %b: tensor<2x6x7x2xf32>) -> tensor<*xindex> {
  %r = onnx.node "GridSample" version 20 (%a, %b) {} : (tensor<2x3x4x5xf32>, tensor<2x6x7x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Type inference and folding of operators on shapes and axes.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// Inference does not require the data of the operand.
// CHECK-LABEL: onnx.graph @shape
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2, 3, 4]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @shape(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Shape" version 15 (%a) {} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Bounds are clamped.
// CHECK-LABEL: onnx.graph @shapeRange
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3, 4]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @shapeRange(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Shape" version 15 (%a) {start = -2 : si64, end = 9 : si64} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @size
// CHECK-NEXT{LITERAL}: = onnx.constant dense<24> : tensor<i64> -> tensor<i64>
// CHECK-NEXT: onnx.return
onnx.graph @size(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Size" version 13 (%a) {} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// 0 copies an extent, -1 infers it.
// CHECK-LABEL: onnx.graph @reshapeCopies
// CHECK: onnx.node "Reshape"
// CHECK-SAME: -> tensor<2x12xf32>{{$}}
onnx.graph @reshapeCopies(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[0, -1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Reshape" version 14 (%a, %b) {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// With allowzero, 0 is an extent.
// CHECK-LABEL: onnx.graph @reshapeZero
// CHECK: onnx.node "Reshape"
// CHECK-SAME: -> tensor<3x0xf32>{{$}}
onnx.graph @reshapeZero(%a: tensor<0x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[3, 0]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Reshape" version 14 (%a, %b) {allowzero = 1 : si64} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @reshapeFold
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @reshapeFold() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3, 4]> : tensor<4xi64> -> tensor<4xi64>
  %b = onnx.constant dense<[2, 2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Reshape" version 14 (%a, %b) {} : (tensor<4xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @flatten
// CHECK: onnx.node "Flatten"
// CHECK-SAME: -> tensor<6x4xf32>{{$}}
onnx.graph @flatten(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Flatten" version 13 (%a) {axis = -1 : si64} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The axis may be the rank.
// CHECK-LABEL: onnx.graph @flattenAll
// CHECK: onnx.node "Flatten"
// CHECK-SAME: -> tensor<6x1xf32>{{$}}
onnx.graph @flattenAll(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Flatten" version 13 (%a) {axis = 2 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Axes are an attribute before version 13.
// CHECK-LABEL: onnx.graph @squeezeAttribute
// CHECK: onnx.node "Squeeze"
// CHECK-SAME: -> tensor<2x1xf32>{{$}}
onnx.graph @squeezeAttribute(%a: tensor<1x2x1xf32>) -> tensor<*xindex> {
  %r = onnx.node "Squeeze" version 11 (%a) {axes = array<i64: 0>} : (tensor<1x2x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @squeezeAll
// CHECK: onnx.node "Squeeze"
// CHECK-SAME: -> tensor<2xf32>{{$}}
onnx.graph @squeezeAll(%a: tensor<1x2x1xf32>) -> tensor<*xindex> {
  %r = onnx.node "Squeeze" version 13 (%a) {} : (tensor<1x2x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The attribute lists axes of the result.
// CHECK-LABEL: onnx.graph @unsqueeze
// CHECK: onnx.node "Unsqueeze"
// CHECK-SAME: -> tensor<1x2x3x1xf32>{{$}}
onnx.graph @unsqueeze(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[0, -1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Unsqueeze" version 13 (%a, %b) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @transpose
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64> -> tensor<3x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @transpose() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %r = onnx.node "Transpose" version 13 (%a) {} : (tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @transposePermuted
// CHECK: onnx.node "Transpose"
// CHECK-SAME: -> tensor<4x2x3xf32>{{$}}
onnx.graph @transposePermuted(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "Transpose" version 13 (%a) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// An extent of 1 keeps the extent of the operand.
// CHECK-LABEL: onnx.graph @expandBothWays
// CHECK: onnx.node "Expand"
// CHECK-SAME: -> tensor<2x3x4xf32>{{$}}
onnx.graph @expandBothWays(%a: tensor<3x1xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[2, 1, 4]> : tensor<3xi64> -> tensor<3xi64>
  %r = onnx.node "Expand" version 13 (%a, %b) {} : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @expandFold
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 2], [1, 2]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @expandFold() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[2, 2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Expand" version 13 (%a, %b) {} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @depthToSpace
// CHECK: onnx.node "DepthToSpace"
// CHECK-SAME: -> tensor<1x2x4x6xf32>{{$}}
onnx.graph @depthToSpace(%a: tensor<1x8x2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "DepthToSpace" version 13 (%a) {blocksize = 2 : si64} : (tensor<1x8x2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @spaceToDepth
// CHECK: onnx.node "SpaceToDepth"
// CHECK-SAME: -> tensor<1x8x2x3xf32>{{$}}
onnx.graph @spaceToDepth(%a: tensor<1x2x4x6xf32>) -> tensor<*xindex> {
  %r = onnx.node "SpaceToDepth" version 13 (%a) {blocksize = 2 : si64} : (tensor<1x2x4x6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

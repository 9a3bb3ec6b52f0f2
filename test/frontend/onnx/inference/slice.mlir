// Type inference and folding of slices, splits, concatenations and padding.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// An end of INT64_MAX means the end of the axis.
// CHECK-LABEL: onnx.graph @sliceEnd
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2, 3, 4]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @sliceEnd() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3, 4]> : tensor<4xi64> -> tensor<4xi64>
  %b = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %c = onnx.constant dense<9223372036854775807> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Slice" version 13 (%a, %b, %c) {} : (tensor<4xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @sliceBackwards
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[4, 2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @sliceBackwards() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3, 4]> : tensor<4xi64> -> tensor<4xi64>
  %b = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %c = onnx.constant dense<-9223372036854775807> : tensor<1xi64> -> tensor<1xi64>
  %d = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %e = onnx.constant dense<-2> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Slice" version 13 (%a, %b, %c, %d, %e) {} : (tensor<4xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Bounds are attributes before version 10.
// CHECK-LABEL: onnx.graph @sliceAttributes
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 2], [4, 5]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @sliceAttributes() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %r = onnx.node "Slice" version 1 (%a) {starts = array<i64: 0>, ends = array<i64: -1>, axes = array<i64: 1>} : (tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @sliceEmpty
// CHECK: onnx.node "Slice"
// CHECK-SAME: -> tensor<4x0xf32>{{$}}
onnx.graph @sliceEmpty(%a: tensor<4x4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<3> : tensor<1xi64> -> tensor<1xi64>
  %c = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  %d = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Slice" version 13 (%a, %b, %c, %d) {} : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @splitEqual
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3, 4]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @splitEqual() -> (tensor<*xindex>, tensor<*xindex>) {
  %a = onnx.constant dense<[1, 2, 3, 4]> : tensor<4xi64> -> tensor<4xi64>
  %r0, %r1 = onnx.node "Split" version 13 (%a) {} : (tensor<4xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// From version 18 on the last part may be smaller.
// CHECK-LABEL: onnx.graph @splitUneven
// CHECK: onnx.node "Split"
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>){{$}}
onnx.graph @splitUneven(%a: tensor<2x7xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1, %r2 = onnx.node "Split" version 18 (%a) {axis = 1 : si64, num_outputs = 3 : si64} : (tensor<2x7xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1, %r2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @splitGiven
// CHECK: onnx.node "Split"
// CHECK-SAME: -> (tensor<2xf32>, tensor<5xf32>){{$}}
onnx.graph @splitGiven(%a: tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %b = onnx.constant dense<[2, 5]> : tensor<2xi64> -> tensor<2xi64>
  %r0, %r1 = onnx.node "Split" version 13 (%a, %b) {} : (tensor<7xf32>, tensor<2xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @splitAttribute
// CHECK: onnx.node "Split"
// CHECK-SAME: -> (tensor<3xf32>, tensor<4xf32>){{$}}
onnx.graph @splitAttribute(%a: tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %r0, %r1 = onnx.node "Split" version 11 (%a) {split = array<i64: 3, 4>} : (tensor<7xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// A splat is expanded.
// CHECK-LABEL: onnx.graph @concat
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[0, 1, 2], [0, 3, 4]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @concat() -> tensor<*xindex> {
  %a = onnx.constant dense<0> : tensor<2x1xi64> -> tensor<2x1xi64>
  %b = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "Concat" version 13 (%a, %b) {axis = -1 : si64} : (tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padConstant
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[9, 1, 2, 9, 9]> : tensor<5xi64> -> tensor<5xi64>
// CHECK-NEXT: onnx.return
onnx.graph @padConstant() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %c = onnx.constant dense<9> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Pad" version 18 (%a, %b, %c) {} : (tensor<2xi64>, tensor<2xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padReflect
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3, 2, 1, 2, 3, 2]> : tensor<6xi64> -> tensor<6xi64>
// CHECK-NEXT: onnx.return
onnx.graph @padReflect() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<[2, 1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Pad" version 18 (%a, %b) {mode = "reflect"} : (tensor<3xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padEdge
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 1, 2, 3, 3, 3]> : tensor<6xi64> -> tensor<6xi64>
// CHECK-NEXT: onnx.return
onnx.graph @padEdge() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Pad" version 18 (%a, %b) {mode = "edge"} : (tensor<3xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padWrap
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3, 1, 2, 3, 1]> : tensor<5xi64> -> tensor<5xi64>
// CHECK-NEXT: onnx.return
onnx.graph @padWrap() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<[1, 1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Pad" version 19 (%a, %b) {mode = "wrap"} : (tensor<3xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Negative padding crops.
// CHECK-LABEL: onnx.graph @padCrops
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2, 3]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @padCrops() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<[-1, 0]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Pad" version 18 (%a, %b) {} : (tensor<3xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padAxes
// CHECK: onnx.node "Pad"
// CHECK-SAME: -> tensor<2x3x6xf32>{{$}}
onnx.graph @padAxes(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[1, 1]> : tensor<2xi64> -> tensor<2xi64>
  %c = onnx.none
  %d = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Pad" version 18 (%a, %b, %c, %d) {} : (tensor<2x3x4xf32>, tensor<2xi64>, none, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @padAttribute
// CHECK: onnx.node "Pad"
// CHECK-SAME: -> tensor<2x6xf32>{{$}}
onnx.graph @padAttribute(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Pad" version 2 (%a) {pads = array<i64: 0, 1, 0, 2>} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @tile
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 2, 1, 2]> : tensor<4xi64> -> tensor<4xi64>
// CHECK-NEXT: onnx.return
onnx.graph @tile() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<2> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Tile" version 13 (%a, %b) {} : (tensor<2xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @triluLower
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 0], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @triluLower() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "Trilu" version 14 (%a) {upper = 0 : si64} : (tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The operand is a splat, and the elements above the first diagonal are kept.
// CHECK-LABEL: onnx.graph @triluUpper
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[false, true], [false, false]]> : tensor<2x2xi1> -> tensor<2x2xi1>
// CHECK-NEXT: onnx.return
onnx.graph @triluUpper() -> tensor<*xindex> {
  %a = onnx.constant dense<true> : tensor<2x2xi1> -> tensor<2x2xi1>
  %b = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Trilu" version 14 (%a, %b) {} : (tensor<2x2xi1>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

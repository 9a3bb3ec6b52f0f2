// Type inference and folding of operators that gather by index.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @gather
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[5, 6], [1, 2]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @gather() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64> -> tensor<3x2xi64>
  %b = onnx.constant dense<[-1, 0]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Gather" version 13 (%a, %b) {} : (tensor<3x2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// A scalar index removes the axis.
// CHECK-LABEL: onnx.graph @gatherScalar
// CHECK-NEXT{LITERAL}: = onnx.constant dense<8> : tensor<i64> -> tensor<i64>
// CHECK-NEXT: onnx.return
onnx.graph @gatherScalar() -> tensor<*xindex> {
  %a = onnx.constant dense<[7, 8, 9]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Gather" version 13 (%a, %b) {} : (tensor<3xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gatherData
// CHECK: onnx.node "Gather"
// CHECK-SAME: -> tensor<5x2x4xf32>{{$}}
onnx.graph @gatherData(%a: tensor<5x3xf32>, %b: tensor<2x4xi64>) -> tensor<*xindex> {
  %r = onnx.node "Gather" version 13 (%a, %b) {axis = 1 : si64} : (tensor<5x3xf32>, tensor<2x4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gatherElements
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 1], [4, 3]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @gatherElements() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %b = onnx.constant dense<[[0, 0], [1, -2]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "GatherElements" version 13 (%a, %b) {axis = 1 : si64} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gatherND
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2, 3]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @gatherND() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %b = onnx.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "GatherND" version 13 (%a, %b) {} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gatherNDBatch
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @gatherNDBatch() -> tensor<*xindex> {
  %a = onnx.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64> -> tensor<2x2x2xi64>
  %b = onnx.constant dense<[[1], [0]]> : tensor<2x1xi64> -> tensor<2x1xi64>
  %r = onnx.node "GatherND" version 13 (%a, %b) {batch_dims = 1 : si64} : (tensor<2x2x2xi64>, tensor<2x1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The indices select elements along an axis.
// CHECK-LABEL: onnx.graph @nonZero
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[0, 1, 1], [0, 0, 1]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @nonZero() -> tensor<*xindex> {
  %a = onnx.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1> -> tensor<2x2xi1>
  %r = onnx.node "NonZero" version 13 (%a) {} : (tensor<2x2xi1>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @compress
// CHECK: onnx.node "Compress"
// CHECK-SAME: -> tensor<2x2xf32>{{$}}
onnx.graph @compress(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<[true, false, true]> : tensor<3xi1> -> tensor<3xi1>
  %r = onnx.node "Compress" version 11 (%a, %b) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<3xi1>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @topK
// CHECK: onnx.node "TopK"
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x3xi64>){{$}}
onnx.graph @topK(%a: tensor<2x5xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %b = onnx.constant dense<3> : tensor<1xi64> -> tensor<1xi64>
  %r0, %r1 = onnx.node "TopK" version 11 (%a, %b) {} : (tensor<2x5xf32>, tensor<1xi64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// The first of equal elements is selected.
// CHECK-LABEL: onnx.graph @argMax
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 0]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @argMax() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 3, 3], [5, 4, 5]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %r = onnx.node "ArgMax" version 13 (%a) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The first NaN.
// CHECK-LABEL: onnx.graph @argMaxOfNan
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @argMaxOfNan() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1.0, 0x7FC00000, 0x7FC00000], [5.0, 4.0, 0x7FC00000]]> : tensor<2x3xf32> -> tensor<2x3xf32>
  %r = onnx.node "ArgMax" version 13 (%a) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The elements are integers that are equal as doubles, and NaN.
// CHECK-LABEL: onnx.graph @unique
// CHECK-DAG{LITERAL}: = onnx.constant dense<[9007199254740992, 9007199254740993]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-DAG{LITERAL}: = onnx.constant dense<[1.000000e+00, 2.000000e+00, 0x7FC00000]> : tensor<3xf32> -> tensor<3xf32>
onnx.graph @unique() -> (tensor<*xindex>, tensor<*xindex>) {
  %a = onnx.constant dense<[9007199254740993, 9007199254740992, 9007199254740993]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<[2.0, 0x7FC00000, 1.0, 0x7FC00000, 2.0]> : tensor<5xf32> -> tensor<5xf32>
  %r = onnx.node "Unique" version 11 (%a) {} : (tensor<3xi64>) -> tensor<*xindex>
  %s = onnx.node "Unique" version 11 (%b) {} : (tensor<5xf32>) -> tensor<*xindex>
  onnx.return %r, %s : tensor<*xindex>, tensor<*xindex>
}

// The last of equal elements is selected.
// CHECK-LABEL: onnx.graph @argMinLast
// CHECK-NEXT{LITERAL}: = onnx.constant dense<1> : tensor<1x1xi64> -> tensor<1x1xi64>
// CHECK-NEXT: onnx.return
onnx.graph @argMinLast() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 1, 3]]> : tensor<1x3xi64> -> tensor<1x3xi64>
  %r = onnx.node "ArgMin" version 13 (%a) {axis = 1 : si64, select_last_index = 1 : si64} : (tensor<1x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @oneHot
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[0, 5, 0], [0, 0, 5]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @oneHot() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, -1]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<[0, 5]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "OneHot" version 11 (%a, %b, %c) {} : (tensor<2xi64>, tensor<i64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Changes of a graph by type inference, independent of operators.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// Results get the inferred types, and so does the type of the graph.
// CHECK-LABEL: onnx.graph @types
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32> {onnx.name = "y"})
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Tanh" version 13(%[[X]]) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: onnx.return %[[Y]] : tensor<2x3xf32>
onnx.graph @types(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<?x3xf32> {onnx.name = "y"}) {
  %y = onnx.node "Tanh" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<?x3xf32>
  onnx.return %y : tensor<?x3xf32>
}

// Shape → Gather → Concat → Reshape: no shape arithmetic remains.
// CHECK-LABEL: onnx.graph @chain
// CHECK-NEXT: %[[S:.*]] = onnx.constant dense<[2, -1]> : tensor<2xi64>
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Reshape" version 14(%{{.*}}, %[[S]])
// CHECK-SAME: -> tensor<2x12xf32>
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @chain(%x: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %first = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %rest = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %s = onnx.node "Shape" version 15 (%x) {} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %b = onnx.node "Gather" version 13 (%s, %first) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %t = onnx.node "Concat" version 13 (%b, %rest) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %y = onnx.node "Reshape" version 14 (%x, %t) {} : (tensor<2x3x4xf32>, tensor<*xi64>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// A causal mask depends only on the length of the sequence.
// CHECK-LABEL: onnx.graph @mask
// CHECK-NEXT: %[[M:.*]] = onnx.constant dense<
// CHECK-SAME{LITERAL}: [[true, false, false], [true, true, false], [true, true, true]]
// CHECK-NEXT: onnx.return %[[M]] : tensor<3x3xi1>
onnx.graph @mask(%x: tensor<2x3xi64>) -> tensor<*xi1> {
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %column = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %s = onnx.node "Shape" version 15 (%x) {start = 1 : si64} : (tensor<2x3xi64>) -> tensor<*xi64>
  %n = onnx.node "Squeeze" version 13 (%s) {} : (tensor<*xi64>) -> tensor<*xi64>
  %r = onnx.node "Range" version 11 (%zero, %n, %one) {} : (tensor<i64>, tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %q = onnx.node "Unsqueeze" version 13 (%r, %column) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %m = onnx.node "LessOrEqual" version 16 (%r, %q) {} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi1>
  onnx.return %m : tensor<*xi1>
}

// Unused nodes are removed, with their problems.
// CHECK-LABEL: onnx.graph @dead
// CHECK-NEXT: onnx.return
onnx.graph @dead(%x: tensor<2xf32>) -> tensor<2xf32> {
  %none = onnx.none
  %w = onnx.initializer "w" : tensor<5xf32>
  %a = onnx.node "Add" version 14 (%x, %w) {} : (tensor<2xf32>, tensor<5xf32>) -> tensor<*xindex>
  %b = onnx.node "NoSuchOperator" version 1 (%a, %none) {} : (tensor<*xindex>, none) -> tensor<*xindex>
  onnx.return %x : tensor<2xf32>
}

// A splat of any size stays a splat.
// CHECK-LABEL: onnx.graph @splat
// CHECK-NEXT: %[[Z:.*]] = onnx.constant dense<2.000000e+00> : tensor<100000x100000xf32>
// CHECK-NEXT: onnx.return %[[Z]]
onnx.graph @splat() -> tensor<*xindex> {
  %s = onnx.constant dense<100000> : tensor<2xi64> -> tensor<2xi64>
  %v = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %z = onnx.node "Expand" version 13 (%v, %s) {} : (tensor<f32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %z : tensor<*xindex>
}

// A node whose result exceeds the size limit is kept, with its type.
// CHECK-LABEL: onnx.graph @large
// CHECK: %[[Y:.*]] = onnx.node "Expand" version 13
// CHECK-SAME: -> tensor<100000000x2xf32>
onnx.graph @large() -> tensor<*xindex> {
  %s = onnx.constant dense<[100000000, 1]> : tensor<2xi64> -> tensor<2xi64>
  %v = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %z = onnx.node "Expand" version 13 (%v, %s) {} : (tensor<2xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %z : tensor<*xindex>
}

// The extents of the exporter's trace are no contradiction if the size was set.
// CHECK-LABEL: onnx.graph @traced
// CHECK: onnx.node "Relu" version 14
// CHECK-SAME: -> tensor<8x3xf32>
onnx.graph @traced(%x: tensor<8x3xf32> {onnx.dims = ["batch", ""]}) -> tensor<1x3xf32> {
  %y = onnx.node "Relu" version 14 (%x) {} : (tensor<8x3xf32>) -> tensor<1x3xf32>
  onnx.return %y : tensor<1x3xf32>
}

// They are no contradiction either if an input was bound.
// CHECK-LABEL: onnx.graph @bound
// CHECK: onnx.node "Expand" version 13
// CHECK-SAME: -> tensor<4x3xf32>
onnx.graph @bound(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.constant dense<[4, 3]> : tensor<2xi64> {onnx.bound} -> tensor<2xi64>
  %y = onnx.node "Expand" version 13 (%x, %s) {} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  onnx.return %y : tensor<2x3xf32>
}

// An omitted result remains omitted.
// CHECK-LABEL: onnx.graph @omitted
// CHECK: onnx.node "MaxPool" version 12
// CHECK-SAME: -> (tensor<1x1x3x3xf32>, none)
onnx.graph @omitted(%x: tensor<1x1x4x4xf32>) -> tensor<*xindex> {
  %y, %i = onnx.node "MaxPool" version 12 (%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> (tensor<*xindex>, none)
  onnx.return %y : tensor<*xindex>
}

// Type inference and folding of reductions, softmax and cumulative sums.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// Without axes, all of them are reduced.
// CHECK-LABEL: onnx.graph @sumAll
// CHECK-NEXT{LITERAL}: = onnx.constant dense<21> : tensor<i64> -> tensor<i64>
// CHECK-NEXT: onnx.return
onnx.graph @sumAll() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %r = onnx.node "ReduceSum" version 13 (%a) {keepdims = 0 : si64} : (tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @sumAxis
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[6], [15]]> : tensor<2x1xi64> -> tensor<2x1xi64>
// CHECK-NEXT: onnx.return
onnx.graph @sumAxis() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %b = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "ReduceSum" version 13 (%a, %b) {} : (tensor<2x3xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// With noop_with_empty_axes, empty axes reduce nothing.
// CHECK-LABEL: onnx.graph @sumNoop
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @sumNoop() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %b = onnx.constant dense<> : tensor<0xi64> -> tensor<0xi64>
  %r = onnx.node "ReduceSum" version 13 (%a, %b) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xi64>, tensor<0xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Axes are an attribute before version 18.
// CHECK-LABEL: onnx.graph @meanAttribute
// CHECK: onnx.node "ReduceMean"
// CHECK-SAME: -> tensor<3xf32>{{$}}
onnx.graph @meanAttribute(%a: tensor<2x3x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "ReduceMean" version 13 (%a) {axes = array<i64: -1, 0>, keepdims = 0 : si64} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @mean
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2.500000e+00, 3.500000e+00, 4.500000e+00]> : tensor<3xf32> -> tensor<3xf32>
// CHECK-NEXT: onnx.return
onnx.graph @mean() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> -> tensor<2x3xf32>
  %b = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "ReduceMean" version 18 (%a, %b) {keepdims = 0 : si64} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @prod
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[6, 120]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @prod() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %b = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "ReduceProd" version 18 (%a, %b) {keepdims = 0 : si64} : (tensor<2x3xi64>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @maxBool
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
// CHECK-NEXT: onnx.return
onnx.graph @maxBool() -> tensor<*xindex> {
  %a = onnx.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1> -> tensor<2x2xi1>
  %b = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "ReduceMax" version 20 (%a, %b) {keepdims = 0 : si64} : (tensor<2x2xi1>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @min
// CHECK-NEXT{LITERAL}: = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
// CHECK-NEXT: onnx.return
onnx.graph @min() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
  %r = onnx.node "ReduceMin" version 18 (%a) {keepdims = 0 : si64} : (tensor<2x3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @l2
// CHECK-NEXT{LITERAL}: = onnx.constant dense<5.000000e+00> : tensor<f32> -> tensor<f32>
// CHECK-NEXT: onnx.return
onnx.graph @l2() -> tensor<*xindex> {
  %a = onnx.constant dense<[3.0, 4.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "ReduceL2" version 18 (%a) {keepdims = 0 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @logSumExp
// CHECK: onnx.node "ReduceLogSumExp"
// CHECK-SAME: -> tensor<2x1xf32>{{$}}
onnx.graph @logSumExp(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %b = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "ReduceLogSumExp" version 18 (%a, %b) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @softmax
// CHECK-NEXT{LITERAL}: = onnx.constant dense<2.500000e-01> : tensor<2x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: onnx.return
onnx.graph @softmax() -> tensor<*xindex> {
  %a = onnx.constant dense<0.0> : tensor<2x4xf32> -> tensor<2x4xf32>
  %r = onnx.node "Softmax" version 13 (%a) {} : (tensor<2x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Before version 13, all axes from axis 1 on are one row.
// CHECK-LABEL: onnx.graph @softmaxFlattens
// CHECK-NEXT{LITERAL}: = onnx.constant dense<1.250000e-01> : tensor<2x2x4xf32> -> tensor<2x2x4xf32>
// CHECK-NEXT: onnx.return
onnx.graph @softmaxFlattens() -> tensor<*xindex> {
  %a = onnx.constant dense<0.0> : tensor<2x2x4xf32> -> tensor<2x2x4xf32>
  %r = onnx.node "Softmax" version 11 (%a) {} : (tensor<2x2x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @logSoftmax
// CHECK: onnx.node "LogSoftmax"
// CHECK-SAME: -> tensor<2x4xf32>{{$}}
onnx.graph @logSoftmax(%a: tensor<2x4xf32>) -> tensor<*xindex> {
  %r = onnx.node "LogSoftmax" version 13 (%a) {axis = 0 : si64} : (tensor<2x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @cumSum
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 3, 6]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @cumSum() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %r = onnx.node "CumSum" version 14 (%a, %b) {} : (tensor<3xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @cumSumReverse
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[5, 3, 0]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @cumSumReverse() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %r = onnx.node "CumSum" version 14 (%a, %b) {reverse = 1 : si64, exclusive = 1 : si64} : (tensor<3xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

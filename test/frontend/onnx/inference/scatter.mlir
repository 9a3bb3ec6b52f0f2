// Type inference and folding of operators that scatter by index.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @scatterElements
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[0, 5, 0], [0, 0, 6]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @scatterElements() -> tensor<*xindex> {
  %a = onnx.constant dense<0> : tensor<2x3xi64> -> tensor<2x3xi64>
  %b = onnx.constant dense<[[1], [-1]]> : tensor<2x1xi64> -> tensor<2x1xi64>
  %c = onnx.constant dense<[[5], [6]]> : tensor<2x1xi64> -> tensor<2x1xi64>
  %r = onnx.node "ScatterElements" version 18 (%a, %b, %c) {axis = 1 : si64} : (tensor<2x3xi64>, tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @scatterND
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[3, 4], [0, 0], [1, 2]]> : tensor<3x2xi64> -> tensor<3x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @scatterND() -> tensor<*xindex> {
  %a = onnx.constant dense<0> : tensor<3x2xi64> -> tensor<3x2xi64>
  %b = onnx.constant dense<[[2], [0]]> : tensor<2x1xi64> -> tensor<2x1xi64>
  %c = onnx.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> -> tensor<2x2xi64>
  %r = onnx.node "ScatterND" version 18 (%a, %b, %c) {} : (tensor<3x2xi64>, tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @scatterAdd
// CHECK: onnx.node "ScatterND"
// CHECK-SAME: -> tensor<3x2xf32>{{$}}
onnx.graph @scatterAdd(%a: tensor<3x2xf32>, %b: tensor<4x1xi64>, %c: tensor<4x2xf32>) -> tensor<*xindex> {
  %r = onnx.node "ScatterND" version 18 (%a, %b, %c) {reduction = "add"} : (tensor<3x2xf32>, tensor<4x1xi64>, tensor<4x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

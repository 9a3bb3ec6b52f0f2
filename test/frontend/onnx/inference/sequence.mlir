// Type inference and folding of tensors from shapes, bounds and random numbers.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @range
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 4, 7]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @range() -> tensor<*xindex> {
  %a = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<8> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @rangeDown
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3.000000e+00, 1.500000e+00]> : tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT: onnx.return
onnx.graph @rangeDown() -> tensor<*xindex> {
  %a = onnx.constant dense<3.0> : tensor<f32> -> tensor<f32>
  %b = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %c = onnx.constant dense<-1.5> : tensor<f32> -> tensor<f32>
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @rangeEmpty
// CHECK-NEXT{LITERAL}: = onnx.constant dense<> : tensor<0xi64> -> tensor<0xi64>
// CHECK-NEXT: onnx.return
onnx.graph @rangeEmpty() -> tensor<*xindex> {
  %a = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Range" version 11 (%a, %b, %c) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @constantOfShape
// CHECK-NEXT{LITERAL}: = onnx.constant dense<7> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @constantOfShape() -> tensor<*xindex> {
  %a = onnx.constant dense<[2, 3]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "ConstantOfShape" version 9 (%a) {value = dense<7> : tensor<1xi64>} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The elements are f32 zeros by default. Without extents, the result is a scalar.
// CHECK-LABEL: onnx.graph @zeros
// CHECK-NEXT{LITERAL}: = onnx.constant dense<0.000000e+00> : tensor<f32> -> tensor<f32>
// CHECK-NEXT: onnx.return
onnx.graph @zeros() -> tensor<*xindex> {
  %a = onnx.constant dense<> : tensor<0xi64> -> tensor<0xi64>
  %r = onnx.node "ConstantOfShape" version 9 (%a) {} : (tensor<0xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @eyeLike
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[0, 1, 0], [0, 0, 1]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @eyeLike(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "EyeLike" version 9 (%a) {k = 1 : si64, dtype = 7 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Random numbers are not folded.
// CHECK-LABEL: onnx.graph @randomNormal
// CHECK: onnx.node "RandomNormal"
// CHECK-SAME: -> tensor<2x3xf32>{{$}}
onnx.graph @randomNormal() -> tensor<*xindex> {
  %r = onnx.node "RandomNormal" version 1 () {shape = array<i64: 2, 3>} : () -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @randomUniformLike
// CHECK: onnx.node "RandomUniformLike"
// CHECK-SAME: -> tensor<2xf64>{{$}}
onnx.graph @randomUniformLike(%a: tensor<2xi64>) -> tensor<*xindex> {
  %r = onnx.node "RandomUniformLike" version 1 (%a) {dtype = 11 : si64} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

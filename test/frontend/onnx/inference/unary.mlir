// Type inference and folding of elementwise operators with one operand.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// Integers keep their type.
// CHECK-LABEL: onnx.graph @abs
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[3, 0, 4]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @abs() -> tensor<*xindex> {
  %a = onnx.constant dense<[-3, 0, 4]> : tensor<3xi64> -> tensor<3xi64>
  %r = onnx.node "Abs" version 13 (%a) {} : (tensor<3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The minimum integer is its own negative.
// CHECK-LABEL: onnx.graph @negWraps
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-128, -1]> : tensor<2xi8> -> tensor<2xi8>
// CHECK-NEXT: onnx.return
onnx.graph @negWraps() -> tensor<*xindex> {
  %a = onnx.constant dense<[-128, 1]> : tensor<2xi8> -> tensor<2xi8>
  %r = onnx.node "Neg" version 13 (%a) {} : (tensor<2xi8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Halves are rounded to the even neighbor.
// CHECK-LABEL: onnx.graph @roundToEven
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[0.000000e+00, 2.000000e+00, 2.000000e+00, -2.000000e+00]> : tensor<4xf64> -> tensor<4xf64>
// CHECK-NEXT: onnx.return
onnx.graph @roundToEven() -> tensor<*xindex> {
  %a = onnx.constant dense<[0.5, 1.5, 2.5, -2.5]> : tensor<4xf64> -> tensor<4xf64>
  %r = onnx.node "Round" version 22 (%a) {} : (tensor<4xf64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// f16 is computed in f32 and rounded once.
// CHECK-LABEL: onnx.graph @sqrtHalf
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1.414060e+00, 2.000000e+00]> : tensor<2xf16> -> tensor<2xf16>
// CHECK-NEXT: onnx.return
onnx.graph @sqrtHalf() -> tensor<*xindex> {
  %a = onnx.constant dense<[2.0, 4.0]> : tensor<2xf16> -> tensor<2xf16>
  %r = onnx.node "Sqrt" version 13 (%a) {} : (tensor<2xf16>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @expBFloat
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1.000000e+00, 2.718750e+00]> : tensor<2xbf16> -> tensor<2xbf16>
// CHECK-NEXT: onnx.return
onnx.graph @expBFloat() -> tensor<*xindex> {
  %a = onnx.constant dense<[0.0, 1.0]> : tensor<2xbf16> -> tensor<2xbf16>
  %r = onnx.node "Exp" version 13 (%a) {} : (tensor<2xbf16>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @not
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[false, true]> : tensor<2xi1> -> tensor<2xi1>
// CHECK-NEXT: onnx.return
onnx.graph @not() -> tensor<*xindex> {
  %a = onnx.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
  %r = onnx.node "Not" version 1 (%a) {} : (tensor<2xi1>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @isNaN
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
// CHECK-NEXT: onnx.return
onnx.graph @isNaN() -> tensor<*xindex> {
  %a = onnx.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "IsNaN" version 20 (%a) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// One sign only.
// CHECK-LABEL: onnx.graph @isInfPositive
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[true, false, false]> : tensor<3xi1> -> tensor<3xi1>
// CHECK-NEXT: onnx.return
onnx.graph @isInfPositive() -> tensor<*xindex> {
  %a = onnx.constant dense<[0x7F800000, 0xFF800000, 1.0]> : tensor<3xf32> -> tensor<3xf32>
  %r = onnx.node "IsInf" version 20 (%a) {detect_negative = 0 : si64} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Either bound may be omitted.
// CHECK-LABEL: onnx.graph @clipOperand
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-5, 1, 3]> : tensor<3xi64> -> tensor<3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @clipOperand() -> tensor<*xindex> {
  %a = onnx.constant dense<[-5, 1, 9]> : tensor<3xi64> -> tensor<3xi64>
  %b = onnx.none
  %c = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Clip" version 13 (%a, %b, %c) {} : (tensor<3xi64>, none, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Bounds are attributes before version 11.
// CHECK-LABEL: onnx.graph @clipAttribute
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-1.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf32> -> tensor<3xf32>
// CHECK-NEXT: onnx.return
onnx.graph @clipAttribute() -> tensor<*xindex> {
  %a = onnx.constant dense<[-5.0, 1.0, 9.0]> : tensor<3xf32> -> tensor<3xf32>
  %r = onnx.node "Clip" version 6 (%a) {min = -1.0 : f32, max = 2.0 : f32} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @leakyRelu
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT: onnx.return
onnx.graph @leakyRelu() -> tensor<*xindex> {
  %a = onnx.constant dense<[-2.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "LeakyRelu" version 16 (%a) {alpha = 0.5 : f32} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The cast does not overflow at either end.
// CHECK-LABEL: onnx.graph @sigmoidExtremes
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[0.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<3xf32> -> tensor<3xf32>
// CHECK-NEXT: onnx.return
onnx.graph @sigmoidExtremes() -> tensor<*xindex> {
  %a = onnx.constant dense<[-1000.0, 0.0, 1000.0]> : tensor<3xf32> -> tensor<3xf32>
  %r = onnx.node "Sigmoid" version 13 (%a) {} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @gelu
// CHECK: onnx.node "Gelu"
// CHECK-SAME: -> tensor<2x3xf32>{{$}}
onnx.graph @gelu(%a: tensor<2x3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Gelu" version 20 (%a) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

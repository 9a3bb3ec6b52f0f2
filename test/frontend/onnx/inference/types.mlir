// Casts, identities, constants.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// CHECK-LABEL: onnx.graph @castTruncates
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-1, 1]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @castTruncates() -> tensor<*xindex> {
  %a = onnx.constant dense<[-1.9, 1.9]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "Cast" version 19 (%a) {to = 7 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @castToBool
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[true, false, true]> : tensor<3xi1> -> tensor<3xi1>
// CHECK-NEXT: onnx.return
onnx.graph @castToBool() -> tensor<*xindex> {
  %a = onnx.constant dense<[-1.0, 0.0, 0.5]> : tensor<3xf32> -> tensor<3xf32>
  %r = onnx.node "Cast" version 19 (%a) {to = 9 : si64} : (tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @castWraps
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[255, 0]> : tensor<2xui8> -> tensor<2xui8>
// CHECK-NEXT: onnx.return
onnx.graph @castWraps() -> tensor<*xindex> {
  %a = onnx.constant dense<[-1, 256]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Cast" version 19 (%a) {to = 2 : si64} : (tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// 64-bit integers are rounded to f32 once.
// CHECK-LABEL: onnx.graph @castLargeInteger
// CHECK-NEXT{LITERAL}: = onnx.constant dense<0x4B800000> : tensor<1xf32> -> tensor<1xf32>
// CHECK-NEXT: onnx.return
onnx.graph @castLargeInteger() -> tensor<*xindex> {
  %a = onnx.constant dense<[16777217]> : tensor<1xi64> -> tensor<1xi64>
  %r = onnx.node "Cast" version 19 (%a) {to = 1 : si64} : (tensor<1xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @castNotANumber
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[0, 2147483647]> : tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT: onnx.return
onnx.graph @castNotANumber() -> tensor<*xindex> {
  %a = onnx.constant dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "Cast" version 19 (%a) {to = 6 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Only the second operand's type matters.
// CHECK-LABEL: onnx.graph @castLike
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT: onnx.return
onnx.graph @castLike(%b: tensor<5xf32>) -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "CastLike" version 19 (%a, %b) {} : (tensor<2xi64>, tensor<5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Types are inferred even without folding.
// CHECK-LABEL: onnx.graph @castToFloat8
// CHECK: onnx.node "Cast"
// CHECK-SAME: -> tensor<2xf8E4M3FN>{{$}}
onnx.graph @castToFloat8() -> tensor<*xindex> {
  %a = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "Cast" version 19 (%a) {to = 17 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @constantInts
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @constantInts() -> tensor<*xindex> {
  %r = onnx.node "Constant" version 13 () {value_ints = array<i64: 1, 2>} : () -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @constantFloat
// CHECK-NEXT{LITERAL}: = onnx.constant dense<1.500000e+00> : tensor<f32> -> tensor<f32>
// CHECK-NEXT: onnx.return
onnx.graph @constantFloat() -> tensor<*xindex> {
  %r = onnx.node "Constant" version 13 () {value_float = 1.5 : f32} : () -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @quantize
// CHECK: onnx.node "QuantizeLinear"
// CHECK-SAME: -> tensor<4xi8>{{$}}
onnx.graph @quantize(%a: tensor<4xf32>, %b: tensor<f32>, %c: tensor<i8>) -> tensor<*xindex> {
  %r = onnx.node "QuantizeLinear" version 21 (%a, %b, %c) {} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Dropout with a ratio in training form is kept.
// CHECK-LABEL: onnx.graph @dropoutTrains
// CHECK: onnx.node "Dropout"
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xi1>){{$}}
onnx.graph @dropoutTrains(%a: tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %b = onnx.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %r0, %r1 = onnx.node "Dropout" version 13 (%a, %b, %c) {} : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %r0, %r1 : tensor<*xindex>, tensor<*xindex>
}

// Identities are replaced by their operands.
// CHECK-LABEL: onnx.graph @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %{{.*}}: tensor<i1>)
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Tanh" version 13(%[[X]])
// CHECK-NEXT: onnx.return %[[Y]], %[[X]]
onnx.graph @identities(%x: tensor<2xf32>, %train: tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>) {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %none = onnx.none
  %a = onnx.node "Identity" version 16 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  %b = onnx.node "Cast" version 19 (%a) {to = 1 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  %c = onnx.node "Dropout" version 13 (%b) {} : (tensor<*xindex>) -> tensor<*xindex>
  %d = onnx.node "Dropout" version 13 (%c, %zero, %train) {} : (tensor<*xindex>, tensor<f32>, tensor<i1>) -> tensor<*xindex>
  %e = onnx.node "Dropout" version 7 (%d) {ratio = 0.0 : f32} : (tensor<*xindex>) -> tensor<*xindex>
  %y = onnx.node "Tanh" version 13 (%e) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %y, %e : tensor<*xindex>, tensor<*xindex>
}

// The mask of a Dropout that drops nothing is true.
// CHECK-LABEL: onnx.graph @mask
// CHECK-NEXT: %[[M:.*]] = onnx.constant dense<true> : tensor<2xi1>
// CHECK-NEXT: onnx.return %{{.*}}, %[[M]]
onnx.graph @mask(%x: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xi1>) {
  %y, %m = onnx.node "Dropout" version 13 (%x) {} : (tensor<2xf32>) -> (tensor<*xindex>, tensor<*xi1>)
  onnx.return %y, %m : tensor<*xindex>, tensor<*xi1>
}

// CHECK-LABEL: onnx.graph @bitCast
// CHECK: onnx.constant dense<[1065353216, -2147483648]> : tensor<2xi32>
onnx.graph @bitCast() -> tensor<*xindex> {
  %a = onnx.constant dense<[1.0, -0.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "BitCast" version 26 (%a) {to = 6 : si64} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

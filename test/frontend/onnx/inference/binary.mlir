// Type inference and folding of elementwise operators with several operands.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// Both operands broadcast.
// CHECK-LABEL: onnx.graph @broadcast
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[11, 21, 31], [12, 22, 32]]> : tensor<2x3xi64> -> tensor<2x3xi64>
// CHECK-NEXT: onnx.return
onnx.graph @broadcast() -> tensor<*xindex> {
  %a = onnx.constant dense<[[1], [2]]> : tensor<2x1xi64> -> tensor<2x1xi64>
  %b = onnx.constant dense<[10, 20, 30]> : tensor<3xi64> -> tensor<3xi64>
  %r = onnx.node "Add" version 14 (%a, %b) {} : (tensor<2x1xi64>, tensor<3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The result of splats is a splat.
// CHECK-LABEL: onnx.graph @splats
// CHECK-NEXT{LITERAL}: = onnx.constant dense<6.000000e+00> : tensor<3x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: onnx.return
onnx.graph @splats() -> tensor<*xindex> {
  %a = onnx.constant dense<2.0> : tensor<3x1xf32> -> tensor<3x1xf32>
  %b = onnx.constant dense<3.0> : tensor<1x4xf32> -> tensor<1x4xf32>
  %r = onnx.node "Mul" version 14 (%a, %b) {} : (tensor<3x1xf32>, tensor<1x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @addWraps
// CHECK-NEXT{LITERAL}: = onnx.constant dense<-128> : tensor<1xi8> -> tensor<1xi8>
// CHECK-NEXT: onnx.return
onnx.graph @addWraps() -> tensor<*xindex> {
  %a = onnx.constant dense<[127]> : tensor<1xi8> -> tensor<1xi8>
  %b = onnx.constant dense<[1]> : tensor<1xi8> -> tensor<1xi8>
  %r = onnx.node "Add" version 14 (%a, %b) {} : (tensor<1xi8>, tensor<1xi8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Integer division truncates towards zero.
// CHECK-LABEL: onnx.graph @divTruncates
// CHECK-NEXT{LITERAL}: = onnx.constant dense<-3> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @divTruncates() -> tensor<*xindex> {
  %a = onnx.constant dense<[-7, 7]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[2, -2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Div" version 14 (%a, %b) {} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Results that the standard leaves undefined do not stop the compiler.
// CHECK-LABEL: onnx.graph @divByZero
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[0, -9223372036854775808]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @divByZero() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, -9223372036854775808]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[0, -1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Div" version 14 (%a, %b) {} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The remainder has the sign of the divisor.
// CHECK-LABEL: onnx.graph @modFloor
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2, -2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @modFloor() -> tensor<*xindex> {
  %a = onnx.constant dense<[-7, 7]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[3, -3]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Mod" version 13 (%a, %b) {} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// With fmod, it has the sign of the dividend.
// CHECK-LABEL: onnx.graph @modFmod
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[-1, 1]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @modFmod() -> tensor<*xindex> {
  %a = onnx.constant dense<[-7, 7]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[3, -3]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Mod" version 13 (%a, %b) {fmod = 1 : si64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// The result has the base's type.
// CHECK-LABEL: onnx.graph @powMixed
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[4, 9]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @powMixed() -> tensor<*xindex> {
  %a = onnx.constant dense<[2, 3]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %r = onnx.node "Pow" version 15 (%a, %b) {} : (tensor<2xi64>, tensor<f32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Unsigned integers are compared as unsigned.
// CHECK-LABEL: onnx.graph @unsignedCompare
// CHECK-NEXT{LITERAL}: = onnx.constant dense<true> : tensor<1xi1> -> tensor<1xi1>
// CHECK-NEXT: onnx.return
onnx.graph @unsignedCompare() -> tensor<*xindex> {
  %a = onnx.constant dense<[18446744073709551615]> : tensor<1xui64> -> tensor<1xui64>
  %b = onnx.constant dense<[1]> : tensor<1xui64> -> tensor<1xui64>
  %r = onnx.node "Greater" version 13 (%a, %b) {} : (tensor<1xui64>, tensor<1xui64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @maxVariadic
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[4, 5]> : tensor<2xi64> -> tensor<2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @maxVariadic() -> tensor<*xindex> {
  %a = onnx.constant dense<[1, 5]> : tensor<2xi64> -> tensor<2xi64>
  %b = onnx.constant dense<[4, 2]> : tensor<2xi64> -> tensor<2xi64>
  %c = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Max" version 13 (%a, %b, %c) {} : (tensor<2xi64>, tensor<2xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @mean
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32> -> tensor<2xf32>
// CHECK-NEXT: onnx.return
onnx.graph @mean() -> tensor<*xindex> {
  %a = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %b = onnx.constant dense<[3.0, 6.0]> : tensor<2xf32> -> tensor<2xf32>
  %r = onnx.node "Mean" version 13 (%a, %b) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @and
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
// CHECK-NEXT: onnx.return
onnx.graph @and() -> tensor<*xindex> {
  %a = onnx.constant dense<[true, false]> : tensor<2xi1> -> tensor<2xi1>
  %b = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %r = onnx.node "And" version 7 (%a, %b) {} : (tensor<2xi1>, tensor<i1>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @bitwise
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[4, 2]> : tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT: onnx.return
onnx.graph @bitwise() -> tensor<*xindex> {
  %a = onnx.constant dense<[12, 10]> : tensor<2xi32> -> tensor<2xi32>
  %b = onnx.constant dense<6> : tensor<i32> -> tensor<i32>
  %r = onnx.node "BitwiseAnd" version 18 (%a, %b) {} : (tensor<2xi32>, tensor<i32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @bitShift
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[64, 254]> : tensor<2xui8> -> tensor<2xui8>
// CHECK-NEXT: onnx.return
onnx.graph @bitShift() -> tensor<*xindex> {
  %a = onnx.constant dense<[16, 255]> : tensor<2xui8> -> tensor<2xui8>
  %b = onnx.constant dense<[2, 1]> : tensor<2xui8> -> tensor<2xui8>
  %r = onnx.node "BitShift" version 11 (%a, %b) {direction = "LEFT"} : (tensor<2xui8>, tensor<2xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @where
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[1, 2], [0, 0]]> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @where() -> tensor<*xindex> {
  %a = onnx.constant dense<[[true], [false]]> : tensor<2x1xi1> -> tensor<2x1xi1>
  %b = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %c = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %r = onnx.node "Where" version 16 (%a, %b, %c) {} : (tensor<2x1xi1>, tensor<2xi64>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// A condition that is equal everywhere selects one operand.
// CHECK-LABEL: onnx.graph @whereSplat
// CHECK-NEXT{LITERAL}: = onnx.constant dense<7> : tensor<2x2xi64> -> tensor<2x2xi64>
// CHECK-NEXT: onnx.return
onnx.graph @whereSplat() -> tensor<*xindex> {
  %a = onnx.constant dense<true> : tensor<2x2xi1> -> tensor<2x2xi1>
  %b = onnx.constant dense<7> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Where" version 16 (%a, %b, %c) {} : (tensor<2x2xi1>, tensor<i64>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @pow
// CHECK: onnx.node "Pow"
// CHECK-SAME: -> tensor<4x3xf16>{{$}}
onnx.graph @pow(%a: tensor<4x1xf16>, %b: tensor<3xf32>) -> tensor<*xindex> {
  %r = onnx.node "Pow" version 15 (%a, %b) {} : (tensor<4x1xf16>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @prelu
// CHECK: onnx.node "PRelu"
// CHECK-SAME: -> tensor<2x3x4xf32>{{$}}
onnx.graph @prelu(%a: tensor<2x3x4xf32>, %b: tensor<3x1xf32>) -> tensor<*xindex> {
  %r = onnx.node "PRelu" version 16 (%a, %b) {} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// A large result that repeats along an axis is computed and stored once.
// CHECK-LABEL: onnx.graph @repeated
// CHECK-NEXT: %[[MASK:.*]] = onnx.constant dense<"0x{{[0-9A-F]+}}"> : tensor<1x32x32xf32> -> tensor<64x32x32xf32>
// CHECK-NEXT: %[[INTS:.*]] = onnx.constant dense<"0x{{[0-9A-F]+}}"> : tensor<64x32x32xi64> -> tensor<64x32x32xi64>
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[[0.000000e+00, -2.000000e+00, -2.000000e+00], [0.000000e+00, 0.000000e+00, -2.000000e+00]]]> : tensor<1x2x3xf32>
// CHECK-NEXT: = onnx.constant dense<3.379200e+04> : tensor<1x1x1xf32>
// CHECK-NEXT: onnx.return %[[MASK]], %[[INTS]]
onnx.graph @repeated() -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %n = onnx.constant dense<32> : tensor<i64> -> tensor<i64>
  %range = onnx.node "Range" version 11 (%zero, %n, %one) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xindex>
  %s = onnx.constant dense<[1, 1, 32]> : tensor<3xi64> -> tensor<3xi64>
  %columns = onnx.node "Reshape" version 14 (%range, %s) {} : (tensor<*xindex>, tensor<3xi64>) -> tensor<*xindex>
  %t = onnx.constant dense<[64, 32, 1]> : tensor<3xi64> -> tensor<3xi64>
  %u = onnx.constant dense<[1, 32, 1]> : tensor<3xi64> -> tensor<3xi64>
  %first = onnx.node "Reshape" version 14 (%range, %u) {} : (tensor<*xindex>, tensor<3xi64>) -> tensor<*xindex>
  %rows = onnx.node "Expand" version 13 (%first, %t) {} : (tensor<*xindex>, tensor<3xi64>) -> tensor<*xindex>
  %lower = onnx.node "LessOrEqual" version 16 (%columns, %rows) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  %upper = onnx.node "Not" version 1 (%lower) {} : (tensor<*xindex>) -> tensor<*xindex>
  %kept = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %masked = onnx.constant dense<-1.0> : tensor<f32> -> tensor<f32>
  %signs = onnx.node "Where" version 16 (%upper, %masked, %kept) {} : (tensor<*xindex>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  %mask = onnx.node "Sub" version 14 (%signs, %kept) {} : (tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
  %ints = onnx.node "Cast" version 19 (%lower) {to = 7 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  %starts = onnx.constant dense<[63, 0, 0]> : tensor<3xi64> -> tensor<3xi64>
  %ends = onnx.constant dense<[64, 2, 3]> : tensor<3xi64> -> tensor<3xi64>
  %corner = onnx.node "Slice" version 13 (%mask, %starts, %ends) {} : (tensor<*xindex>, tensor<3xi64>, tensor<3xi64>) -> tensor<*xindex>
  %ones = onnx.node "Cast" version 19 (%lower) {to = 1 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  %sum = onnx.node "ReduceSum" version 13 (%ones) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %mask, %ints, %corner, %sum : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// This holds for any axis.
// CHECK-LABEL: onnx.graph @repeatedInside
// CHECK-NEXT: %[[SUM:.*]] = onnx.constant dense<"0x{{[0-9A-F]+}}"> : tensor<64x1x32xf32> -> tensor<64x32x32xf32>
// CHECK-NEXT{LITERAL}: = onnx.constant dense<[[[1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00]], [[2.000000e+00, 3.000000e+00], [2.000000e+00, 3.000000e+00]]]> : tensor<2x2x2xf32>
// CHECK-NEXT: onnx.return %[[SUM]]
onnx.graph @repeatedInside() -> (tensor<*xindex>, tensor<*xindex>) {
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %n = onnx.constant dense<64.0> : tensor<f32> -> tensor<f32>
  %m = onnx.constant dense<32.0> : tensor<f32> -> tensor<f32>
  %long = onnx.node "Range" version 11 (%zero, %n, %one) {} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  %short = onnx.node "Range" version 11 (%zero, %m, %one) {} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  %s = onnx.constant dense<[64, 1, 1]> : tensor<3xi64> -> tensor<3xi64>
  %outer = onnx.node "Reshape" version 14 (%long, %s) {} : (tensor<*xindex>, tensor<3xi64>) -> tensor<*xindex>
  %t = onnx.constant dense<[1, 32, 32]> : tensor<3xi64> -> tensor<3xi64>
  %inner = onnx.node "Expand" version 13 (%short, %t) {} : (tensor<*xindex>, tensor<3xi64>) -> tensor<*xindex>
  %terms = onnx.node "Add" version 14 (%outer, %inner) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  %sum = onnx.node "Max" version 13 (%terms, %zero) {} : (tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
  %starts = onnx.constant dense<[1, 30, 0]> : tensor<3xi64> -> tensor<3xi64>
  %ends = onnx.constant dense<[3, 32, 2]> : tensor<3xi64> -> tensor<3xi64>
  %corner = onnx.node "Slice" version 13 (%sum, %starts, %ends) {} : (tensor<*xindex>, tensor<3xi64>, tensor<3xi64>) -> tensor<*xindex>
  onnx.return %sum, %corner : tensor<*xindex>, tensor<*xindex>
}

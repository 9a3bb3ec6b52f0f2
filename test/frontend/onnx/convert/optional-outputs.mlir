// An optional output that cannot be converted is omitted, with all its operations.
// RUN: mtc-opt %s --convert-onnx-to-mtc 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=MESSAGE <%t.err

// MESSAGE: remark: the output 'codes' is omitted: Cast version 21: element type f4E2M1FN is not supported
// CHECK: func.func @forward(%{{.*}}: tensor<4x3xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "y"}) {
// CHECK-NEXT: mtc.tanh
// CHECK-NEXT: return
onnx.graph @main(%x: tensor<4x3xf32> {onnx.name = "x"})
    -> (tensor<4x3xf4E2M1FN> {onnx.name = "codes", onnx.optional}, tensor<4x3xf32> {onnx.name = "y"}) {
  %y = onnx.node "Tanh" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %e = onnx.node "Exp" version 13 (%y) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %c = onnx.node "Cast" version 21 (%e) {to = 23 : si64} : (tensor<4x3xf32>) -> tensor<4x3xf4E2M1FN>
  onnx.return %c, %y : tensor<4x3xf4E2M1FN>, tensor<4x3xf32>
}

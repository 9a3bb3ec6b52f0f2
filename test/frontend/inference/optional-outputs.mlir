// A problem at a node is an error, unless optional outputs alone follow from the node: these are left out.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=MESSAGE <%t.err

// MESSAGE: remark: the output 'label' is left out: operator ai.onnx.ml.LabelEncoder version 1 is not known
// CHECK-LABEL: onnx.graph @unknownOperator
// CHECK-SAME: -> (tensor<4x3xf32> {onnx.name = "p"}) {
// CHECK-NEXT: "Softmax"
// CHECK-NEXT: onnx.return
onnx.graph @unknownOperator(%x: tensor<4x3xf32> {onnx.name = "x"})
    -> (tensor<*xi64> {onnx.name = "label", onnx.optional}, tensor<*xf32> {onnx.name = "p"}) {
  %p = onnx.node "Softmax" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<*xf32>
  %i = onnx.node "ArgMax" version 13 (%p) {axis = 1 : si64} : (tensor<*xf32>) -> tensor<*xi64>
  %c = onnx.node domain "ai.onnx.ml" "LabelEncoder" version 1 (%i) {} : (tensor<*xi64>) -> tensor<*xf32>
  %l = onnx.node "Cast" version 13 (%c) {to = 7 : si64} : (tensor<*xf32>) -> tensor<*xi64>
  onnx.return %l, %p : tensor<*xi64>, tensor<*xf32>
}

// -----

// Wrong attributes and shapes that depend on data.
// MESSAGE: remark: the output 'a' is left out: Softmax version 13: attribute axis {{.*}}has kind FLOAT, expected INT
// MESSAGE: remark: the output 'n' is left out: NonZero version 13: operand 0 (X) must be known at compile time
// CHECK-LABEL: onnx.graph @wrongNodes
// CHECK-SAME: -> (tensor<4x3xf32> {onnx.name = "y"}, tensor<4x3xf32> {onnx.name = "kept", onnx.optional}) {
onnx.graph @wrongNodes(%x: tensor<4x3xf32> {onnx.name = "x"})
    -> (tensor<*xf32> {onnx.name = "a", onnx.optional}, tensor<*xf32> {onnx.name = "y"},
        tensor<*xi64> {onnx.name = "n", onnx.optional}, tensor<*xf32> {onnx.name = "kept", onnx.optional}) {
  %a = onnx.node "Softmax" version 13 (%x) {axis = 1.0 : f32} : (tensor<4x3xf32>) -> tensor<*xf32>
  %y = onnx.node "Tanh" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<*xf32>
  %n = onnx.node "NonZero" version 13 (%y) {} : (tensor<*xf32>) -> tensor<*xi64>
  %k = onnx.node "Exp" version 13 (%y) {} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.return %a, %y, %n, %k : tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>
}

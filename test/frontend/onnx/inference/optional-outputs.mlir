// A problem at a node is an error. If only optional outputs depend on the node, they are omitted instead.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=MESSAGE <%t.err

// MESSAGE: remark: the output 'label' is omitted: operator ai.onnx.ml.LabelEncoder version 1 is unknown
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

// The nodes have invalid attributes, and shapes that depend on data.
// MESSAGE: remark: the output 'a' is omitted: Softmax version 13: attribute axis {{.*}}has kind FLOAT, expected INT
// MESSAGE: remark: the output 'n' is omitted: NonZero version 13: operand 0 (X) must be known at compile time
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

// -----

// The problems are control flow that depends on data, an operator inside a branch, an expanded node, and a sequence.
// MESSAGE: remark: the output 'i' is omitted: If version 16: result 0 is tensor<4x3xf32> or tensor<3x4xf32>, expected equal types because the condition depends on data
// MESSAGE: remark: the output 'u' is omitted: operator bar.Foo version 1 is unknown
// MESSAGE: remark: the output 'c' is omitted: Concat version 13: {{.*}}
// MESSAGE: remark: the output 's' is omitted: is a sequence, expected a tensor
// CHECK-LABEL: onnx.graph @controlFlow
// CHECK-SAME: -> (tensor<4x3xf32> {onnx.name = "y"}, tensor<4x1xf32> {onnx.name = "e", onnx.optional}) {
// CHECK-NOT: "If"
// CHECK-NOT: "Sequence"
// CHECK: onnx.return %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4x1xf32>
onnx.graph @controlFlow(%x: tensor<4x3xf32> {onnx.name = "x"}, %b: tensor<i1> {onnx.name = "b"})
    -> (tensor<*xf32> {onnx.name = "i", onnx.optional}, tensor<*xf32> {onnx.name = "u", onnx.optional},
        tensor<*xf32> {onnx.name = "c", onnx.optional}, tensor<*xindex> {onnx.name = "s", onnx.optional},
        tensor<*xf32> {onnx.name = "y"}, tensor<*xf32> {onnx.name = "e", onnx.optional}) {
  %y = onnx.node "Tanh" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<*xf32>
  %i = onnx.node "If" version 16 (%b) {} graphs ["then_branch", "else_branch"] {
    onnx.return %y : tensor<*xf32>
  }, {
    %t = onnx.node "Transpose" version 13 (%x) {} : (tensor<4x3xf32>) -> tensor<*xf32>
    onnx.return %t : tensor<*xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %u = onnx.node "If" version 16 (%true) {} graphs ["then_branch", "else_branch"] {
    %f = onnx.node domain "bar" "Foo" version 1 (%y) {} : (tensor<*xf32>) -> tensor<*xf32>
    onnx.return %f : tensor<*xf32>
  }, {
    onnx.return %x : tensor<4x3xf32>
  } : (tensor<i1>) -> tensor<*xf32>
  %sizes = onnx.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %s = onnx.node "SplitToSequence" version 11 (%y, %sizes) {axis = 1 : si64} : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xindex>
  %c = onnx.node "ConcatFromSequence" version 11 (%s) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xf32>
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %e = onnx.node "SequenceAt" version 11 (%s, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xf32>
  onnx.return %i, %u, %c, %s, %y, %e : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xindex>, tensor<*xf32>, tensor<*xf32>
}

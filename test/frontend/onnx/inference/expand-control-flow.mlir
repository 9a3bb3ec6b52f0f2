// Before parameters are selected, only control flow is expanded: other nodes and types do not change.
// RUN: mtc-opt %s --onnx-expand-control-flow | FileCheck %s

// Both iterations use the weight, and keep the node's module. Declared types are kept, and so is the Identity, whose name may be that of a
// parameter.
// CHECK-LABEL: onnx.graph @loop
// CHECK: %[[W:.*]] = onnx.initializer "w" {{.*}} : tensor<3xf32>
// CHECK: %[[V:.*]] = onnx.node "Identity" version 16(%[[W]]) {} {onnx.index = 0 : i64} : (tensor<3xf32>) -> tensor<?xf32>
// CHECK: %[[A:.*]] = onnx.node "Mul" version 14(%{{.*}}, %[[V]]) {} {onnx.module = "a", onnx.path = array<i64: 1, 0, 0>}
// CHECK-SAME: -> tensor<*xindex>
// CHECK: %[[B:.*]] = onnx.node "Mul" version 14(%[[A]], %[[V]]) {} {onnx.module = "a", onnx.path = array<i64: 1, 0, 0>}
// CHECK-NOT: "Loop"
// CHECK: %[[Y:.*]] = onnx.node "NoSuchOperator" version 1(%[[B]]) {} : (tensor<*xindex>) -> tensor<*xindex>
// CHECK: onnx.return %[[Y]]
onnx.graph @loop(%x: tensor<3xf32>) -> tensor<*xindex> {
  %w = onnx.initializer "w" {sample = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : tensor<3xf32>
  %n = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %v = onnx.node "Identity" version 16 (%w) {} {onnx.index = 0 : i64} : (tensor<3xf32>) -> tensor<?xf32>
  %z = onnx.node "Loop" version 16 (%n, %none, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %s: tensor<*xindex>):
    %t = onnx.node "Mul" version 14 (%s, %v) {} {onnx.module = "a", onnx.path = array<i64: 1, 0, 0>}
           : (tensor<*xindex>, tensor<?xf32>) -> tensor<*xindex>
    onnx.return %c, %t : tensor<*xindex>, tensor<*xindex>
  } {onnx.index = 1 : i64} : (tensor<i64>, none, tensor<3xf32>) -> tensor<*xindex>
  %y = onnx.node "NoSuchOperator" version 1 (%z) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Floating-point scalars are constants by default, so this one may be a condition.
// CHECK-LABEL: onnx.graph @scalar
// CHECK-NOT: "If"
// CHECK: onnx.return %{{.*}} : tensor<3xf32>
onnx.graph @scalar(%x: tensor<3xf32>) -> tensor<*xindex> {
  %a = onnx.initializer "a" {sample = dense<1.0> : tensor<f32>} : tensor<f32>
  %b = onnx.initializer "b" {sample = dense<2.0> : tensor<f32>} : tensor<f32>
  %c = onnx.node "Less" version 13 (%a, %b) {} : (tensor<f32>, tensor<f32>) -> tensor<*xindex>
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<3xf32>
  }, {
    %z = onnx.node "Tanh" version 13 (%x) {} : (tensor<3xf32>) -> tensor<*xindex>
    onnx.return %z : tensor<*xindex>
  } : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Control flow that is unknown at compile time is not expanded, and no message is printed.
// CHECK-LABEL: onnx.graph @undecided
// CHECK: %[[Y:.*]] = onnx.node "Loop" version 16({{.*}}) {} graphs ["body"] {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: onnx.node "Tanh"
// CHECK-NEXT: onnx.node "Less"
// CHECK-NEXT: onnx.return
// CHECK-NEXT: }
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @undecided(%x: tensor<f32>) -> tensor<*xindex> {
  %none = onnx.none
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "Loop" version 16 (%none, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d, %w : tensor<*xindex>, tensor<*xindex>
  } : (none, tensor<i1>, tensor<f32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Unbound extents are unknown.
// CHECK-LABEL: onnx.graph @unbound
// CHECK: onnx.node "If"
onnx.graph @unbound(%x: tensor<?xf32>) -> tensor<*xindex> {
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<?xf32>
  }, {
    onnx.return %x : tensor<?xf32>
  } : (tensor<i1>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

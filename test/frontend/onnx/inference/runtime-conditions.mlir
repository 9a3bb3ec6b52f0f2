// If the condition of an If or Loop depends on data, every branch and iteration is computed, and the results are selected.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file | FileCheck %s

// Values that enter a branch pass a gate, except constants and integers.
// CHECK-LABEL: onnx.graph @if
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi64>, %[[C:.*]]: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi64>)
// CHECK-DAG: %[[ONE:.*]] = onnx.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[W:.*]] = onnx.initializer "w" : tensor<2xf32>
// CHECK: %[[GX:.*]] = onnx.node domain "mtc" "Gate" version 1(%[[C]], %[[X]]) {taken = 1 : si64}
// CHECK: %[[GW:.*]] = onnx.node domain "mtc" "Gate" version 1(%[[C]], %[[W]]) {taken = 1 : si64}
// CHECK: %[[M:.*]] = onnx.node "Mul" version 14(%[[GX]], %[[GW]])
// CHECK: %[[P:.*]] = onnx.node "Add" version 14(%[[M]], %[[ONE]])
// CHECK: %[[J:.*]] = onnx.node "Neg" version 13(%[[I]])
// CHECK: %[[HX:.*]] = onnx.node domain "mtc" "Gate" version 1(%[[C]], %[[X]]) {taken = 0 : si64}
// CHECK: %[[S:.*]] = onnx.node "Sqrt" version 13(%[[HX]])
// CHECK: %[[Y:.*]] = onnx.node "Where" version 16(%[[C]], %[[P]], %[[S]])
// CHECK: %[[Z:.*]] = onnx.node "Where" version 16(%[[C]], %[[GX]], %[[HX]])
// CHECK: %[[K:.*]] = onnx.node "Where" version 16(%[[C]], %[[J]], %[[I]])
// CHECK: onnx.return %[[Y]], %[[Z]], %[[K]]
onnx.graph @if(%x: tensor<2xf32>, %i: tensor<2xi64>, %c: tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %w = onnx.initializer "w" : tensor<2xf32>
  %y:3 = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    %m = onnx.node "Mul" version 14 (%x, %w) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
    %p = onnx.node "Add" version 14 (%m, %one) {} : (tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
    %j = onnx.node "Neg" version 13 (%i) {} : (tensor<2xi64>) -> tensor<*xindex>
    onnx.return %p, %x, %j : tensor<*xindex>, tensor<2xf32>, tensor<*xindex>
  }, {
    %s = onnx.node "Sqrt" version 13 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
    onnx.return %s, %x, %i : tensor<*xindex>, tensor<2xf32>, tensor<2xi64>
  } : (tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1, %y#2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// The condition has the shape [1], a branch contains an If, and sequences have equally many elements.
// CHECK-LABEL: onnx.graph @nested
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<1xi1>, %[[D:.*]]: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK: %[[S:.*]] = onnx.node "Reshape" version 13(%[[C]], %{{.*}})
// CHECK: onnx.node domain "mtc" "Gate" version 1(%[[S]], %[[X]])
// CHECK: %[[INNER:.*]] = onnx.node "Where" version 16(%[[D]],
// CHECK: %[[A:.*]] = onnx.node "Where" version 16(%[[S]], %[[INNER]],
// CHECK: %[[B:.*]] = onnx.node "Where" version 16(%[[S]],
// CHECK: onnx.return %[[A]], %[[B]]
onnx.graph @nested(%x: tensor<2xf32>, %c: tensor<1xi1>, %d: tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>) {
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %s = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    %a = onnx.node "If" version 16 (%d) {} graphs ["then_branch", "else_branch"] {
      %t = onnx.node "Tanh" version 13 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
      onnx.return %t : tensor<*xindex>
    }, {
      onnx.return %x : tensor<2xf32>
    } : (tensor<i1>) -> tensor<*xindex>
    %q = onnx.node "SequenceConstruct" version 11 (%a, %x) {} : (tensor<*xindex>, tensor<2xf32>) -> tensor<*xindex>
    onnx.return %q : tensor<*xindex>
  }, {
    %n = onnx.node "Neg" version 13 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
    %q = onnx.node "SequenceConstruct" version 11 (%x, %n) {} : (tensor<2xf32>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %q : tensor<*xindex>
  } : (tensor<1xi1>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%s, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

// -----

// The second and third iterations count if all previous conditions are true. The Loop carries the number of its iterations.
// CHECK-LABEL: onnx.graph @loop
// CHECK-SAME: (%[[X:.*]]: tensor<f32>) -> (tensor<f32>, tensor<i64>)
// CHECK: %[[A:.*]] = onnx.node "Tanh" version 13(%[[X]])
// CHECK: %[[C:.*]] = onnx.node "Less" version 13(%[[A]], %[[X]])
// CHECK: %[[GA:.*]] = onnx.node domain "mtc" "Gate" version 1(%[[C]], %[[A]])
// CHECK: %[[B:.*]] = onnx.node "Tanh" version 13(%[[GA]])
// CHECK: %[[D:.*]] = onnx.node "Less" version 13(%[[B]], %[[GA]])
// CHECK: %[[B1:.*]] = onnx.node "Where" version 16(%[[C]], %[[B]], %[[A]])
// CHECK: %[[N1:.*]] = onnx.node "Where" version 16(%[[C]], %{{.*}}, %{{.*}})
// CHECK: %[[CD:.*]] = onnx.node "And" version 7(%[[C]], %[[D]])
// CHECK: %[[GB:.*]] = onnx.node domain "mtc" "Gate" version 1(%[[CD]], %[[B1]])
// CHECK: %[[E:.*]] = onnx.node "Tanh" version 13(%[[GB]])
// CHECK: %[[Y:.*]] = onnx.node "Where" version 16(%[[CD]], %[[E]], %[[B1]])
// CHECK: onnx.return %[[Y]],
onnx.graph @loop(%x: tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %three = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y:2 = onnx.node "Loop" version 16 (%three, %true, %x, %zero) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>, %n: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %m = onnx.node "Add" version 14 (%n, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
    onnx.return %d, %w, %m : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<f32>, tensor<i64>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1 : tensor<*xindex>, tensor<*xindex>
}

// -----

// A loop of one iteration may have scan outputs, whatever its condition is afterwards.
// CHECK-LABEL: onnx.graph @once
// CHECK-SAME: -> (tensor<f32>, tensor<1xf32>)
// CHECK-NOT: Where
onnx.graph @once(%x: tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y:2 = onnx.node "Loop" version 16 (%one, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d, %w, %w : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1 : tensor<*xindex>, tensor<*xindex>
}

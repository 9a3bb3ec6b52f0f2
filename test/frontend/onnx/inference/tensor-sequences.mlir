// If the elements of sequences of tensors are known, no sequence remains.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// The parts have 2 elements, and the last one has the remainder. Positions may count from the end.
// CHECK-LABEL: onnx.graph @splitBySize
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x1xf32>, tensor<i64>)
// CHECK-DAG: %[[COUNT:.*]] = onnx.constant dense<3> : tensor<i64>
// CHECK-DAG: %[[SIZES:.*]] = onnx.constant dense<[2, 2, 1]> : tensor<3xi64>
// CHECK-DAG: %[[Y:.*]]:3 = onnx.node "Split" version 13(%[[X]], %[[SIZES]]) {axis = 1 : si64}
// CHECK: onnx.return %[[Y]]#0, %[[Y]]#2, %[[COUNT]]
onnx.graph @splitBySize(%x: tensor<3x5xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %size = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %last = onnx.constant dense<-1> : tensor<i32> -> tensor<i32>
  %s = onnx.node "SplitToSequence" version 11 (%x, %size) {axis = -1 : si64} : (tensor<3x5xf32>, tensor<i64>) -> tensor<*xindex>
  %t = onnx.node "Identity" version 16 (%s) {} : (tensor<*xindex>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%t, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%t, %last) {} : (tensor<*xindex>, tensor<i32>) -> tensor<*xindex>
  %n = onnx.node "SequenceLength" version 11 (%t) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %a, %b, %n : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @splitBySizes
// CHECK-DAG: %[[SIZES:.*]] = onnx.constant dense<[1, 3]> : tensor<2xi64>
// CHECK: %[[Y:.*]]:2 = onnx.node "Split" version 13(%{{.*}}, %[[SIZES]]) {axis = 0 : si64}
// CHECK: onnx.return %[[Y]]#1
onnx.graph @splitBySizes(%x: tensor<4xf32>) -> tensor<*xindex> {
  %sizes = onnx.constant dense<[1, 3]> : tensor<2xi64> -> tensor<2xi64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  // keepdims is ignored if sizes are given.
  %s = onnx.node "SplitToSequence" version 11 (%x, %sizes) {keepdims = 0 : si64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a : tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @splitToSlices
// CHECK-SAME: -> (tensor<4xf32>, tensor<1x4xf32>)
// CHECK: %[[Y:.*]]:2 = onnx.node "Split"
// CHECK: %[[A:.*]] = onnx.node "Squeeze" version 13(%[[Y]]#1,
// CHECK: %[[Z:.*]]:2 = onnx.node "Split"
// CHECK: onnx.return %[[A]], %[[Z]]#1
onnx.graph @splitToSlices(%x: tensor<2x4xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SplitToSequence" version 11 (%x) {keepdims = 0 : si64} : (tensor<2x4xf32>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %t = onnx.node "SplitToSequence" version 11 (%x) {} : (tensor<2x4xf32>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%t, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

// PyTorch's `unbind` has a scalar of 1.
// CHECK-LABEL: onnx.graph @splitByOne
// CHECK-SAME: -> (tensor<2xf32>, tensor<2x2xf32>)
onnx.graph @splitByOne(%x: tensor<2x4xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %two = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SplitToSequence" version 11 (%x, %one) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x4xf32>, tensor<i64>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %t = onnx.node "SplitToSequence" version 11 (%x, %two) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x4xf32>, tensor<i64>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%t, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

// The exporter declares the elements with this axis.
// CHECK-LABEL: onnx.graph @unbind
// CHECK-SAME: -> tensor<2xf32>
onnx.graph @unbind(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SplitToSequence" version 11 (%x, %one) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x4xf32>, tensor<i64>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %one) {} : (tensor<*xindex>, tensor<i64>) -> tensor<2x1xf32>
  %b = onnx.node "Tanh" version 13 (%a) {} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  onnx.return %b : tensor<2x1xf32>
}

// (a, b) becomes (b, a, b), then (b, a), then (a).
// CHECK-LABEL: onnx.graph @edit
// CHECK-SAME: (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT: %[[X:.*]] = onnx.node "Concat" version 13(%[[B]], %[[A]], %[[B]]) {axis = 0 : si64}
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Concat" version 13(%[[B]], %[[A]]) {axis = 0 : si64}
// CHECK-NEXT: %[[Z:.*]] = onnx.node "Concat" version 13(%[[A]]) {axis = 0 : si64}
// CHECK-NEXT: onnx.return %[[X]], %[[Y]], %[[Z]]
onnx.graph @edit(%a: tensor<1xf32>, %b: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %first = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SequenceConstruct" version 11 (%a, %b) {} : (tensor<1xf32>, tensor<2xf32>) -> tensor<*xindex>
  %t = onnx.node "SequenceInsert" version 11 (%s, %b, %first) {} : (tensor<*xindex>, tensor<2xf32>, tensor<i64>) -> tensor<*xindex>
  %u = onnx.node "SequenceErase" version 11 (%t) {} : (tensor<*xindex>) -> tensor<*xindex>
  %v = onnx.node "SequenceErase" version 11 (%u, %first) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %x = onnx.node "ConcatFromSequence" version 11 (%t) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  %y = onnx.node "ConcatFromSequence" version 11 (%u) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  %z = onnx.node "ConcatFromSequence" version 11 (%v) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %x, %y, %z : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// CHECK-LABEL: onnx.graph @stack
// CHECK-SAME: -> tensor<3x2xf32>
// CHECK-COUNT-2: onnx.node "Unsqueeze"
// CHECK: onnx.node "Concat" version 13({{.*}}) {axis = 1 : si64}
onnx.graph @stack(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<*xindex> {
  %s = onnx.node "SequenceConstruct" version 11 (%a, %b) {} : (tensor<3xf32>, tensor<3xf32>) -> tensor<*xindex>
  %y = onnx.node "ConcatFromSequence" version 11 (%s) {axis = -1 : si64, new_axis = 1 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// The body runs for each element; operands that are not sequences are the same each time.
// CHECK-LABEL: onnx.graph @map
// CHECK-SAME: (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<f32>)
// CHECK-NEXT: %[[X:.*]] = onnx.node "Add" version 14(%[[A]], %[[C]])
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Mul" version 14(%[[A]], %[[B]])
// CHECK-NEXT: %[[Z:.*]] = onnx.node "Add" version 14(%[[B]], %[[C]])
// CHECK-NEXT: onnx.return %[[X]], %[[Y]], %[[Z]]
onnx.graph @map(%a: tensor<1xf32>, %b: tensor<2xf32>, %c: tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %first = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %second = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SequenceConstruct" version 11 (%a, %b) {} : (tensor<1xf32>, tensor<2xf32>) -> tensor<*xindex>
  %t = onnx.node "SequenceConstruct" version 11 (%b, %a) {} : (tensor<2xf32>, tensor<1xf32>) -> tensor<*xindex>
  %u:2 = onnx.node "SequenceMap" version 17 (%s, %t, %c) {} graphs ["body"] {
  ^bb0(%v: tensor<*xindex>, %w: tensor<*xindex>, %k: tensor<*xindex>):
    %x = onnx.node "Add" version 14 (%v, %k) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %y = onnx.node "Mul" version 14 (%v, %w) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %x, %y : tensor<*xindex>, tensor<*xindex>
  } : (tensor<*xindex>, tensor<*xindex>, tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>)
  %x = onnx.node "SequenceAt" version 11 (%u#0, %first) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %y = onnx.node "SequenceAt" version 11 (%u#1, %first) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  %z = onnx.node "SequenceAt" version 11 (%u#0, %second) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %x, %y, %z : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// An optional value is represented by its element.
// CHECK-LABEL: onnx.graph @optional
// CHECK-SAME: (%[[A:.*]]: tensor<1xf32>) -> (tensor<1xf32>, tensor<i1>, tensor<i1>)
// CHECK-DAG: %[[YES:.*]] = onnx.constant dense<true>
// CHECK-DAG: %[[NO:.*]] = onnx.constant dense<false>
// CHECK: onnx.return %[[A]], %[[YES]], %[[NO]]
onnx.graph @optional(%a: tensor<1xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %o = onnx.node "Optional" version 15 (%a) {} : (tensor<1xf32>) -> tensor<*xindex>
  %p = onnx.node "Optional" version 15 () {} : () -> tensor<*xindex>
  %x = onnx.node "OptionalGetElement" version 18 (%o) {} : (tensor<*xindex>) -> tensor<*xindex>
  %y = onnx.node "OptionalHasElement" version 18 (%o) {} : (tensor<*xindex>) -> tensor<*xindex>
  %z = onnx.node "OptionalHasElement" version 18 (%p) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %x, %y, %z : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

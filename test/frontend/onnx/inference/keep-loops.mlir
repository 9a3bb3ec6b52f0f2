// Loops of many iterations are not unrolled if their iterations differ only in data.
// RUN: mtc-opt %s --onnx-expand-control-flow=unroll=2 | FileCheck %s --check-prefix=EARLY
// RUN: mtc-opt %s --onnx-infer-and-fold=unroll=2 | FileCheck %s
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s --check-prefix=UNROLLED

// Before parameters are selected, the Scan keeps its subgraph, and nodes after it are processed: the sequence is expanded.
// EARLY-LABEL: onnx.graph @scan
// EARLY: onnx.node "Scan"
// EARLY-NOT: Sequence
// EARLY-LABEL: onnx.graph @loop

// The scanned axes become the first axes. The second input is read in the other direction, and the output is written in the other
// direction. Constants are copied into the body, other values of the graph are captured.
// CHECK-LABEL: onnx.graph @scan
// CHECK-SAME: (%[[H:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<2xf32>)
// CHECK: %[[T:.*]] = onnx.node "Transpose" version 13(%[[X]]) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK: %[[U:.*]] = onnx.node "Transpose" version 13(%[[X]]) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK: %[[R:.*]] = onnx.node "Slice" version 13(%[[U]],
// CHECK: %[[S:.*]]:2 = onnx.node domain "mtc" "Scan" version 1(%[[H]], %[[T]], %[[R]], %[[W]]) {inputs = 2 : si64, iterations = 3 : si64, reversed = 0 : si64, states = 1 : si64} graphs ["body"] {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>, %[[D:.*]]: tensor<2xf32>):
// CHECK-NEXT: %[[TWO:.*]] = onnx.constant
// CHECK-NEXT: %[[M:.*]] = onnx.node "Mul" version 14(%[[A]], %[[D]])
// CHECK-NEXT: %[[E:.*]] = onnx.node "Add" version 14(%[[M]], %[[B]])
// CHECK-NEXT: %[[F:.*]] = onnx.node "Mul" version 14(%[[E]], %[[TWO]])
// CHECK-NEXT: %[[G:.*]] = onnx.node "Sub" version 14(%[[F]], %[[C]])
// CHECK-NEXT: onnx.return %[[E]], %[[G]] : tensor<2xf32>, tensor<2xf32>
// CHECK: (tensor<2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
// CHECK: %[[Y:.*]] = onnx.node "Slice" version 13(%[[S]]#1,
// CHECK: %[[Z:.*]] = onnx.node "Transpose" version 13(%[[Y]]) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK: onnx.return %[[S]]#0, %[[Z]]
// UNROLLED-LABEL: onnx.graph @scan
// UNROLLED-NOT: "Scan"
// UNROLLED: onnx.return
onnx.graph @scan(%h: tensor<2xf32>, %x: tensor<2x3xf32>, %w: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %two = onnx.constant dense<2.0> : tensor<2xf32> -> tensor<2xf32>
  %f, %y, %unused = onnx.node "Scan" version 11 (%h, %x, %x)
      {num_scan_inputs = 2 : si64, scan_input_axes = array<i64: 1, -1>, scan_input_directions = array<i64: 0, 1>,
       scan_output_axes = array<i64: -1, 0>, scan_output_directions = array<i64: 1, 0>} graphs ["body"] {
  ^bb0(%a: tensor<*xindex>, %b: tensor<*xindex>, %c: tensor<*xindex>):
    %m = onnx.node "Mul" version 14 (%a, %w) {} : (tensor<*xindex>, tensor<2xf32>) -> tensor<*xindex>
    %e = onnx.node "Add" version 14 (%m, %b) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %g = onnx.node "Mul" version 14 (%e, %two) {} : (tensor<*xindex>, tensor<2xf32>) -> tensor<*xindex>
    %i = onnx.node "Sub" version 14 (%g, %c) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %n = onnx.node "Neg" version 13 (%i) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %e, %i, %n : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %s = onnx.node "SequenceConstruct" version 11 (%y) {} : (tensor<*xf32>) -> tensor<*xindex>
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %z = onnx.node "SequenceAt" version 11 (%s, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xf32>
  onnx.return %f, %z : tensor<*xf32>, tensor<*xf32>
}

// A Loop that reads x at the number of the iteration scans x. If the number is used as data, the numbers are scanned, too. The
// condition is constant.
// CHECK-LABEL: onnx.graph @loop
// CHECK-SAME: (%[[H:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<4x2xf32>)
// CHECK: %[[I:.*]] = onnx.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
// CHECK: %[[S:.*]]:2 = onnx.node domain "mtc" "Scan" version 1(%[[H]], %[[I]], %[[X]]) {inputs = 2 : si64, iterations = 4 : si64,
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2xf32>, %[[N:.*]]: tensor<i64>, %[[B:.*]]: tensor<2xf32>):
// CHECK-NEXT: %[[C:.*]] = onnx.node "Cast" version 13(%[[N]])
// CHECK-NEXT: %[[D:.*]] = onnx.node "Mul" version 14(%[[B]], %[[C]])
// CHECK-NEXT: %[[E:.*]] = onnx.node "Add" version 14(%[[A]], %[[D]])
// CHECK-NEXT: onnx.return %[[E]], %[[D]] : tensor<2xf32>, tensor<2xf32>
// CHECK: onnx.return %[[S]]#0, %[[S]]#1
onnx.graph @loop(%h: tensor<2xf32>, %x: tensor<4x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %n = onnx.constant dense<4> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %f, %y = onnx.node "Loop" version 16 (%n, %true, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %b = onnx.node "Gather" version 13 (%x, %i) {} : (tensor<4x2xf32>, tensor<*xindex>) -> tensor<*xindex>
    %j = onnx.node "Cast" version 13 (%i) {to = 1 : si64} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Mul" version 14 (%b, %j) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %e = onnx.node "Add" version 14 (%a, %d) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %go = onnx.node "Identity" version 16 (%c) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %go, %e, %d : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.return %f, %y : tensor<*xf32>, tensor<*xf32>
}

// Loops are unrolled if they have a state whose type changes, a condition on data, an extent that depends on the iteration, or operators
// that draw random numbers or have a training form.
// CHECK-LABEL: onnx.graph @grows
// CHECK-NOT: "Scan"
// CHECK: onnx.return %{{.*}} : tensor<5xf32>
onnx.graph @grows(%h: tensor<2xf32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %one = onnx.constant dense<1.0> : tensor<1xf32> -> tensor<1xf32>
  %f = onnx.node "Loop" version 16 (%n, %none, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %e = onnx.node "Concat" version 13 (%a, %one) {axis = 0 : si64} : (tensor<*xindex>, tensor<1xf32>) -> tensor<*xindex>
    onnx.return %c, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2xf32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

// CHECK-LABEL: onnx.graph @condition
// CHECK-NOT: domain "mtc" "Scan"
// CHECK: onnx.return
onnx.graph @condition(%h: tensor<f32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %one = onnx.constant dense<1.0> : tensor<f32> -> tensor<f32>
  %f = onnx.node "Loop" version 16 (%n, %true, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %e = onnx.node "Tanh" version 13 (%a) {} : (tensor<*xindex>) -> tensor<*xindex>
    %go = onnx.node "Less" version 13 (%e, %one) {} : (tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
    onnx.return %go, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<f32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

// CHECK-LABEL: onnx.graph @extent
// CHECK-NOT: domain "mtc" "Scan"
// CHECK: onnx.return
onnx.graph @extent(%h: tensor<f32>, %x: tensor<4xf32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %axis = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %end = onnx.constant dense<4> : tensor<1xi64> -> tensor<1xi64>
  %f = onnx.node "Loop" version 16 (%n, %none, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %start = onnx.node "Unsqueeze" version 13 (%i, %axis) {} : (tensor<*xindex>, tensor<1xi64>) -> tensor<*xindex>
    %rest = onnx.node "Slice" version 13 (%x, %start, %end) {} : (tensor<4xf32>, tensor<*xindex>, tensor<1xi64>) -> tensor<*xindex>
    %s = onnx.node "ReduceSum" version 13 (%rest) {keepdims = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
    %e = onnx.node "Add" version 14 (%a, %s) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<f32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

// CHECK-LABEL: onnx.graph @dropout
// CHECK-NOT: domain "mtc" "Scan"
// CHECK: onnx.return
onnx.graph @dropout(%h: tensor<2xf32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %f = onnx.node "Loop" version 16 (%n, %none, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %e = onnx.node "Dropout" version 13 (%a) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2xf32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

// CHECK-LABEL: onnx.graph @random
// CHECK-NOT: domain "mtc" "Scan"
// CHECK-COUNT-3: "RandomNormalLike"
// CHECK: onnx.return
onnx.graph @random(%h: tensor<2xf32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %f = onnx.node "Loop" version 16 (%n, %none, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %r = onnx.node "RandomNormalLike" version 1 (%a) {} : (tensor<*xindex>) -> tensor<*xindex>
    %e = onnx.node "Add" version 14 (%a, %r) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2xf32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

// CHECK-LABEL: onnx.graph @normalized
// CHECK-NOT: domain "mtc" "Scan"
// CHECK-COUNT-3: "BatchNormalization"
// CHECK: onnx.return
onnx.graph @normalized(%h: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<*xf32> {
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %f = onnx.node "Loop" version 16 (%n, %none, %h) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %a: tensor<*xindex>):
    %e = onnx.node "BatchNormalization" version 15 (%a, %s, %s, %s, %s) {} : (tensor<*xindex>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xindex>
    onnx.return %c, %e : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2x4xf32>) -> tensor<*xf32>
  onnx.return %f : tensor<*xf32>
}

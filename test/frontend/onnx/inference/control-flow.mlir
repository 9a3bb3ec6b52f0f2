// Control flow that is known at compile time becomes the nodes of its subgraphs.
// RUN: mtc-opt %s --onnx-infer-and-fold | FileCheck %s

// The taken branch uses values of the outer graph; the other branch is removed with its unknown operator.
// CHECK-LABEL: onnx.graph @ifConstant
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[W:.*]] = onnx.initializer "w" : tensor<3xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Mul" version 14(%[[X]], %[[W]]) {}
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @ifConstant(%x: tensor<2x3xf32>) -> tensor<*xindex> {
  %w = onnx.initializer "w" : tensor<3xf32>
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "If" version 16 (%c) {} graphs ["else_branch", "then_branch"] {
    %a = onnx.node "NoSuchOperator" version 1 (%x) {} : (tensor<2x3xf32>) -> tensor<*xindex>
    onnx.return %a : tensor<*xindex>
  }, {
    %a = onnx.node "Mul" version 14 (%x, %w) {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xindex>
    onnx.return %a : tensor<*xindex>
  } : (tensor<i1>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// A condition that depends on shapes, with an If inside a branch.
// CHECK-LABEL: onnx.graph @ifShape
// CHECK-SAME: (%[[X:.*]]: tensor<2x1xf32>) -> (tensor<2xf32>, tensor<2x1xf32>)
// CHECK-NEXT: %[[A:.*]] = onnx.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Squeeze" version 13(%[[X]], %[[A]])
// CHECK-NEXT: onnx.return %[[Y]], %[[X]]
onnx.graph @ifShape(%x: tensor<2x1xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %axis = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %s = onnx.node "Shape" version 15 (%x) {start = 1 : si64} : (tensor<2x1xf32>) -> tensor<*xi64>
  %c = onnx.node "Equal" version 13 (%s, %axis) {} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi1>
  %y, %z = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    %d = onnx.node "Not" version 1 (%c) {} : (tensor<*xi1>) -> tensor<*xi1>
    %a = onnx.node "If" version 16 (%d) {} graphs ["then_branch", "else_branch"] {
      onnx.return %x : tensor<2x1xf32>
    }, {
      %b = onnx.node "Squeeze" version 13 (%x, %axis) {} : (tensor<2x1xf32>, tensor<1xi64>) -> tensor<*xindex>
      onnx.return %b : tensor<*xindex>
    } : (tensor<*xi1>) -> tensor<*xindex>
    onnx.return %a, %x : tensor<*xindex>, tensor<2x1xf32>
  }, {
    onnx.return %x, %x : tensor<2x1xf32>, tensor<2x1xf32>
  } : (tensor<*xi1>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y, %z : tensor<*xindex>, tensor<*xindex>
}

// In a Loop of two iterations, each iteration reads the carried value of the previous one, scan outputs are stacked, and the iteration's
// number is a constant.
// CHECK-LABEL: onnx.graph @loop
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>, tensor<2xi64>)
// CHECK-DAG: %[[AXES:.*]] = onnx.constant dense<0> : tensor<1xi64>
// CHECK-DAG: %[[NUMBERS:.*]] = onnx.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-DAG: %[[A:.*]] = onnx.node "Tanh" version 13(%[[X]])
// CHECK-DAG: %[[B:.*]] = onnx.node "Tanh" version 13(%[[A]])
// CHECK-DAG: %[[C:.*]] = onnx.node "Unsqueeze" version 13(%[[A]], %[[AXES]])
// CHECK-DAG: %[[D:.*]] = onnx.node "Unsqueeze" version 13(%[[B]], %[[AXES]])
// CHECK-DAG: %[[E:.*]] = onnx.node "Concat" version 13(%[[C]], %[[D]])
// CHECK: onnx.return %[[B]], %[[E]], %[[NUMBERS]]
onnx.graph @loop(%x: tensor<3xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %n = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %y:3 = onnx.node "Loop" version 16 (%n, %none, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %w, %w, %i : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<3xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1, %y#2 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// This Loop ends by its condition: it doubles 1 while the result is below 20. No node remains.
// CHECK-LABEL: onnx.graph @while
// CHECK-NEXT: %[[Y:.*]] = onnx.constant dense<32> : tensor<i64>
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @while() -> tensor<*xindex> {
  %none = onnx.none
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  %limit = onnx.constant dense<20> : tensor<i64> -> tensor<i64>
  %y = onnx.node "Loop" version 16 (%none, %true, %one) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Add" version 14 (%v, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %limit) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
    onnx.return %d, %w : tensor<*xindex>, tensor<*xindex>
  } : (none, tensor<i1>, tensor<i64>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// Without iterations, carried values are the initial ones; a scan output has no elements, but the shape of its slices.
// CHECK-LABEL: onnx.graph @noIterations
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<0x3xf32>)
// CHECK-NEXT: %[[E:.*]] = onnx.constant dense<> : tensor<0x3xf32>
// CHECK-NEXT: onnx.return %[[X]], %[[E]]
onnx.graph @noIterations(%x: tensor<3xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %n = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y:2 = onnx.node "Loop" version 16 (%n, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %w, %w : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1 : tensor<*xindex>, tensor<*xindex>
}

// A carried value may be a sequence, and its elements may have different shapes.
// CHECK-LABEL: onnx.graph @sequenceInLoop
// CHECK-SAME: (%[[X:.*]]: tensor<1xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[A:.*]] = onnx.node "Concat" version 13(%[[X]], %[[X]])
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Concat" version 13(%[[X]], %[[A]])
// CHECK-NEXT: onnx.return %[[Y]]
onnx.graph @sequenceInLoop(%x: tensor<1xf32>) -> tensor<*xindex> {
  %n = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %none = onnx.none
  %empty = onnx.node "SequenceEmpty" version 11 () {} : () -> tensor<*xindex>
  %s:2 = onnx.node "Loop" version 16 (%n, %none, %empty, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %t: tensor<*xindex>, %v: tensor<*xindex>):
    %u = onnx.node "SequenceInsert" version 11 (%t, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %w = onnx.node "Concat" version 13 (%v, %v) {axis = 0 : si64} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %c, %u, %w : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<*xindex>, tensor<1xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  %y = onnx.node "ConcatFromSequence" version 11 (%s#0) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// A Scan iterates over the second axis from its end. The output is stacked along the second axis too.
// CHECK-LABEL: onnx.graph @scan
// CHECK-SAME: (%[[S:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<3x2xf32>) -> (tensor<3xf32>, tensor<3x2xf32>)
// CHECK-DAG: %[[ZERO:.*]] = onnx.constant dense<0> : tensor<i64>
// CHECK-DAG: %[[ONE:.*]] = onnx.constant dense<1> : tensor<i64>
// CHECK-DAG: %[[X1:.*]] = onnx.node "Gather" version 13(%[[X]], %[[ONE]]) {axis = 1 : si64}
// CHECK-DAG: %[[A:.*]] = onnx.node "Add" version 14(%[[S]], %[[X1]])
// CHECK-DAG: %[[X0:.*]] = onnx.node "Gather" version 13(%[[X]], %[[ZERO]]) {axis = 1 : si64}
// CHECK-DAG: %[[B:.*]] = onnx.node "Add" version 14(%[[A]], %[[X0]])
// CHECK-DAG: %[[C:.*]] = onnx.node "Unsqueeze" version 13(%[[A]],
// CHECK-DAG: %[[D:.*]] = onnx.node "Unsqueeze" version 13(%[[B]],
// CHECK: %[[Y:.*]] = onnx.node "Concat" version 13(%[[D]], %[[C]]) {axis = 1 : si64}
// CHECK: onnx.return %[[B]], %[[Y]]
onnx.graph @scan(%s: tensor<3xf32>, %x: tensor<3x2xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %y:2 = onnx.node "Scan" version 16 (%s, %x) {
    num_scan_inputs = 1 : si64, scan_input_axes = array<i64: -1>, scan_input_directions = array<i64: 1>,
    scan_output_axes = array<i64: 1>, scan_output_directions = array<i64: 1>
  } graphs ["body"] {
  ^bb0(%state: tensor<*xindex>, %slice: tensor<*xindex>):
    %a = onnx.node "Add" version 14 (%state, %slice) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %a, %a : tensor<*xindex>, tensor<*xindex>
  } : (tensor<3xf32>, tensor<3x2xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1 : tensor<*xindex>, tensor<*xindex>
}

// Scan of opset 8 has a batch axis: each sample is scanned separately, here in reverse.
// CHECK-LABEL: onnx.graph @batchedScan
// CHECK-SAME: -> (tensor<2xf32>, tensor<2x3xf32>)
// CHECK-COUNT-6: "Add"
// CHECK-NOT: "Add"
onnx.graph @batchedScan(%s: tensor<2xf32>, %x: tensor<2x3xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  %y:2 = onnx.node "Scan" version 8 (%none, %s, %x) {num_scan_inputs = 1 : si64, directions = array<i64: 1>} graphs ["body"] {
  ^bb0(%state: tensor<*xindex>, %slice: tensor<*xindex>):
    %a = onnx.node "Add" version 7 (%state, %slice) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %a, %a : tensor<*xindex>, tensor<*xindex>
  } : (none, tensor<2xf32>, tensor<2x3xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#0, %y#1 : tensor<*xindex>, tensor<*xindex>
}

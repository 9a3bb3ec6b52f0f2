// Control flow that is unknown at compile time, and mismatching subgraphs.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @noBranch(%x: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{If version 16: attribute else_branch is missing, expected GRAPH}}
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch"] {
    onnx.return %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<*xindex>
  // expected-error @below {{If version 16: the graph else_branch has 2 outputs, expected 1}}
  %z = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<2xf32>
  }, {
    onnx.return %x, %x : tensor<2xf32>, tensor<2xf32>
  } : (tensor<i1>) -> tensor<*xindex>
  // expected-error @below {{If version 16: operand 0 (cond) has type tensor<2xf32>, expected one boolean}}
  %v = onnx.node "If" version 16 (%x) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<2xf32>
  }, {
    onnx.return %x : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %y, %z, %v : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// Problems are reported at the nodes inside.
onnx.graph @inside(%x: tensor<2xf32>) -> tensor<*xindex> {
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    // expected-error @below {{operator Frobnicate version 1 is unknown; 1 node uses it}}
    %a = onnx.node "Frobnicate" version 1 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
    // expected-error @below {{Softmax version 13: attribute axis = 7, expected -1..0}}
    %b = onnx.node "Softmax" version 13 (%x) {axis = 7 : si64} : (tensor<2xf32>) -> tensor<*xindex>
    %d = onnx.node "Add" version 14 (%a, %b) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d : tensor<*xindex>
  }, {
    onnx.return %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

// The taken branch contradicts the declared type.
onnx.graph @declared(%x: tensor<2xf32>) -> tensor<*xf32> {
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{If version 16: result 0 has type tensor<2xf32>, but the file declares tensor<3xf32>}}
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<2xf32>
  }, {
    onnx.return %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

// -----

onnx.graph @count(%x: tensor<2xf32>, %n: tensor<i64> {onnx.name = "n"}) -> tensor<*xindex> {
  %none = onnx.none
  // expected-error @below {{Loop version 16: the number of iterations must be known at compile time, but depends on the data of n; export the model with the loop unrolled (Keras: unroll=True; PyTorch: trace the module, or loop over a Python range), or use --bind n=VALUE}}
  %y = onnx.node "Loop" version 16 (%n, %none, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    onnx.return %c, %v : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @until(%x: tensor<f32> {onnx.name = "x"}) -> tensor<*xindex> {
  %none = onnx.none
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{Loop version 16: the condition after iteration 0 must be known at compile time, but depends on the data of x; export the model with the loop unrolled (Keras: unroll=True; PyTorch: trace the module, or loop over a Python range) or give it a maximum trip count, or use --bind x=VALUE}}
  %y = onnx.node "Loop" version 16 (%none, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d, %w : tensor<*xindex>, tensor<*xindex>
  } : (none, tensor<i1>, tensor<f32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @endless(%x: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  // expected-error @below {{Loop version 16: has neither a trip count nor a condition; expected at least one of them}}
  %y = onnx.node "Loop" version 16 (%none, %none, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    onnx.return %c, %v : tensor<*xindex>, tensor<*xindex>
  } : (none, none, tensor<2xf32>) -> tensor<*xindex>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{Loop version 16: its subgraphs expand to more than 50000 nodes; reduce the number of iterations}}
  %z = onnx.node "Loop" version 16 (%none, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    onnx.return %c, %v : tensor<*xindex>, tensor<*xindex>
  } : (none, tensor<i1>, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %y, %z : tensor<*xindex>, tensor<*xindex>
}

// -----

// A problem in one iteration is reported once.
onnx.graph @iteration(%x: tensor<2xf32>) -> tensor<*xindex> {
  %none = onnx.none
  %n = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %y = onnx.node "Loop" version 16 (%n, %none, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    // expected-error @below {{Softmax version 13: attribute axis = 7, expected -1..0}}
    %w = onnx.node "Softmax" version 13 (%x) {axis = 7 : si64} : (tensor<2xf32>) -> tensor<*xindex>
    onnx.return %c, %w : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, none, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @scan(%s: tensor<2xf32>, %x: tensor<3x2xf32>, %y: tensor<4x2xf32>)
    -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{Scan version 16: attribute num_scan_inputs = 3, expected 1..2}}
  %a = onnx.node "Scan" version 16 (%s, %x) {num_scan_inputs = 3 : si64} graphs ["body"] {
  ^bb0(%state: tensor<*xindex>, %slice: tensor<*xindex>):
    onnx.return %state : tensor<*xindex>
  } : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<*xindex>
  // expected-error @below {{Scan version 16: scan inputs have 3 and 4 elements to scan, expected equal counts}}
  %b = onnx.node "Scan" version 16 (%x, %y) {num_scan_inputs = 2 : si64} graphs ["body"] {
  ^bb0(%u: tensor<*xindex>, %v: tensor<*xindex>):
    onnx.return %u : tensor<*xindex>
  } : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<*xindex>
  // expected-error @below {{Scan version 16: attributes scan_input_axes and scan_input_directions have 2 and 1 entries, expected 1}}
  %c = onnx.node "Scan" version 16 (%s, %x) {num_scan_inputs = 1 : si64, scan_input_axes = array<i64: 0, 1>} graphs ["body"] {
  ^bb0(%state: tensor<*xindex>, %slice: tensor<*xindex>):
    onnx.return %state : tensor<*xindex>
  } : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<*xindex>
  %none = onnx.none
  // expected-error @below {{Scan version 8: scan inputs have 2 and 3 samples, expected equal counts}}
  %d = onnx.node "Scan" version 8 (%none, %s, %x) {num_scan_inputs = 1 : si64} graphs ["body"] {
  ^bb0(%state: tensor<*xindex>, %slice: tensor<*xindex>):
    onnx.return %state : tensor<*xindex>
  } : (none, tensor<2xf32>, tensor<3x2xf32>) -> tensor<*xindex>
  %lengths = onnx.constant dense<2> : tensor<3xi64> -> tensor<3xi64>
  // expected-error @below {{Scan version 8: operand 0 (sequence_lens) is not supported; pad the sequences, and convert the model to opset 9 or later}}
  %e = onnx.node "Scan" version 8 (%lengths, %x) {num_scan_inputs = 1 : si64} graphs ["body"] {
  ^bb0(%slice: tensor<*xindex>):
    onnx.return %slice : tensor<*xindex>
  } : (tensor<3xi64>, tensor<3x2xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c, %d, %e : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

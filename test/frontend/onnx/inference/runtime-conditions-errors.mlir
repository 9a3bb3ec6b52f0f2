// The conditions of If and Loop depend on data, and the types of their results are unknown at compile time.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @types(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<*xindex> {
  // expected-error @below {{If version 16: result 0 is tensor<2xf32> or tensor<4xf32>, expected equal types because the condition depends on data; export the model without this branch}}
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    onnx.return %x : tensor<2xf32>
  }, {
    %a = onnx.node "Concat" version 13 (%x, %x) {axis = 0 : si64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
    onnx.return %a : tensor<*xindex>
  } : (tensor<i1>) -> tensor<*xindex>
  // Nodes that depend on an invalid node are not reported.
  %z = onnx.node "Tanh" version 13 (%y) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %z : tensor<*xindex>
}

// -----

onnx.graph @sequences(%x: tensor<2xf32>, %c: tensor<i1>) -> (tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{If version 16: result 0 is a sequence of 2 or 1 elements, expected equal types because}}
  %y = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    %q = onnx.node "SequenceConstruct" version 11 (%x, %x) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
    onnx.return %q : tensor<*xindex>
  }, {
    %q = onnx.node "SequenceConstruct" version 11 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
    onnx.return %q : tensor<*xindex>
  } : (tensor<i1>) -> tensor<*xindex>
  // expected-error @below {{If version 16: result 0 is a sequence or tensor<2xf32>, expected equal types because}}
  %z = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
    %q = onnx.node "SequenceConstruct" version 11 (%x, %x) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
    onnx.return %q : tensor<*xindex>
  }, {
    onnx.return %x : tensor<2xf32>
  } : (tensor<i1>) -> tensor<*xindex>
  onnx.return %y, %z : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @growing(%x: tensor<1xf32>) -> tensor<*xindex> {
  %three = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %axes = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Loop version 16: carried value 0 in iteration 1 is tensor<4xf32> or tensor<2xf32>, expected equal types because}}
  %y = onnx.node "Loop" version 16 (%three, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Concat" version 13 (%v, %v) {axis = 0 : si64} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    %s = onnx.node "ReduceSum" version 13 (%w, %axes) {keepdims = 0 : si64} : (tensor<*xindex>, tensor<1xi64>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%s, %s) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d, %w : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<1xf32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @scanned(%x: tensor<f32> {onnx.name = "x"}) -> tensor<*xindex> {
  %three = onnx.constant dense<3> : tensor<i64> -> tensor<i64>
  %true = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  // expected-error @below {{Loop version 16: the number of elements of its scan outputs must be known at compile time, but depends on the data of x; export the model with the loop unrolled}}
  %y:2 = onnx.node "Loop" version 16 (%three, %true, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %c: tensor<*xindex>, %v: tensor<*xindex>):
    %w = onnx.node "Tanh" version 13 (%v) {} : (tensor<*xindex>) -> tensor<*xindex>
    %d = onnx.node "Less" version 13 (%w, %v) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
    onnx.return %d, %w, %w : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<i1>, tensor<f32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %y#1 : tensor<*xindex>
}

// -----

onnx.graph @unbounded(%x: tensor<f32> {onnx.name = "x"}) -> tensor<*xindex> {
  %most = onnx.constant dense<9223372036854775807> : tensor<i64> -> tensor<i64>
  %zero = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %c = onnx.node "Less" version 13 (%x, %zero) {} : (tensor<f32>, tensor<f32>) -> tensor<*xindex>
  // expected-error @below {{Loop version 16: operand 1 (cond) must be known at compile time, but depends on the data of x; export the model with the loop unrolled (Keras: unroll=True; PyTorch: trace the module, or loop over a Python range) or give it a maximum trip count, or use --bind x=VALUE}}
  %y = onnx.node "Loop" version 16 (%most, %c, %x) {} graphs ["body"] {
  ^bb0(%i: tensor<*xindex>, %d: tensor<*xindex>, %v: tensor<*xindex>):
    onnx.return %d, %v : tensor<*xindex>, tensor<*xindex>
  } : (tensor<i64>, tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// The sequences are unknown at compile time, or are results of a graph.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @position(%x: tensor<4xf32>, %i: tensor<i64> {onnx.name = "i"}) -> (tensor<*xindex>, tensor<*xindex>) {
  %four = onnx.constant dense<4> : tensor<i64> -> tensor<i64>
  %s = onnx.node "SplitToSequence" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{SequenceAt version 11: operand 1 (position) must be known at compile time, but depends on the data of i; use --bind i=VALUE}}
  %a = onnx.node "SequenceAt" version 11 (%s, %i) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  // expected-error @below {{SequenceAt version 11: operand 1 (position) = 4, but the sequence has 4 elements}}
  %b = onnx.node "SequenceAt" version 11 (%s, %four) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @split(%x: tensor<4xf32>, %n: tensor<i64> {onnx.name = "n"}) -> (tensor<*xindex>, tensor<*xindex>) {
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  // expected-error @below {{SplitToSequence version 11: operand 1 (split) must be known at compile time, but depends on the data of n}}
  %s = onnx.node "SplitToSequence" version 11 (%x, %n) {} : (tensor<4xf32>, tensor<i64>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  // expected-error @below {{SplitToSequence version 11: operand 1 (split) = 0, expected 1 or more}}
  %t = onnx.node "SplitToSequence" version 11 (%x, %zero) {} : (tensor<4xf32>, tensor<i64>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%t, %zero) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @kinds(%x: tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %s = onnx.node "SequenceConstruct" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{Tanh version 13: operand 0 (input) is a sequence, expected a tensor}}
  %a = onnx.node "Tanh" version 13 (%s) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{SequenceLength version 11: operand 0 (input_sequence) is not a sequence with elements known at compile time}}
  %b = onnx.node "SequenceLength" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  %e = onnx.node "SequenceEmpty" version 11 () {} : () -> tensor<*xindex>
  // expected-error @below {{ConcatFromSequence version 11: cannot concatenate an empty sequence}}
  %c = onnx.node "ConcatFromSequence" version 11 (%e) {axis = 0 : si64} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{SequenceErase version 11: cannot erase an element of an empty sequence}}
  %d = onnx.node "SequenceErase" version 11 (%e) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %a, %b, %c, %d : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// expected-error @below {{output "y" is a sequence, expected a tensor; change the model to return its elements}}
onnx.graph @output(%x: tensor<4xf32>) -> (tensor<*xindex> {onnx.name = "y"}) {
  %s = onnx.node "SequenceConstruct" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  onnx.return %s : tensor<*xindex>
}

// -----

onnx.graph @optional() -> tensor<*xindex> {
  %p = onnx.node "Optional" version 15 () {} : () -> tensor<*xindex>
  // expected-error @below {{OptionalGetElement version 18: operand 0 (input) is required, but omitted}}
  %x = onnx.node "OptionalGetElement" version 18 (%p) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %x : tensor<*xindex>
}

// -----

// Operators that expect tensors have sequences as operands.
onnx.graph @operands(%x: tensor<4xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %i = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %f = onnx.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %s = onnx.node "SequenceConstruct" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  // expected-error @below {{SplitToSequence version 11: operand 0 (input) is a sequence, expected a tensor}}
  %a = onnx.node "SplitToSequence" version 11 (%s, %i) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  // expected-error @below {{SequenceAt version 11: operand 1 (position) is a sequence, expected a tensor}}
  %b = onnx.node "SequenceAt" version 11 (%s, %s) {} : (tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{SequenceConstruct version 11: operand 1 (inputs) is a sequence, expected a tensor}}
  %c = onnx.node "SequenceConstruct" version 11 (%x, %s) {} : (tensor<4xf32>, tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{SequenceAt version 11: operand 1 (position) has element type f32, expected an integer type}}
  %d = onnx.node "SequenceAt" version 11 (%s, %f) {} : (tensor<*xindex>, tensor<f32>) -> tensor<*xindex>
  onnx.return %a, %b, %c, %d : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @elements(%x: tensor<60000xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  %i = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64> -> tensor<i64>
  // expected-error @below {{SplitToSequence version 11: creates 60000 elements, expected at most 50000}}
  %s = onnx.node "SplitToSequence" version 11 (%x) {} : (tensor<60000xf32>) -> tensor<*xindex>
  %a = onnx.node "SequenceAt" version 11 (%s, %i) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  // expected-error @below {{SplitToSequence version 11: creates 60000 elements, expected at most 50000}}
  %t = onnx.node "SplitToSequence" version 11 (%x, %one) {} : (tensor<60000xf32>, tensor<i64>) -> tensor<*xindex>
  %b = onnx.node "SequenceAt" version 11 (%t, %i) {} : (tensor<*xindex>, tensor<i64>) -> tensor<*xindex>
  onnx.return %a, %b : tensor<*xindex>, tensor<*xindex>
}

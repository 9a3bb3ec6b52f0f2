// Problems of a graph: all of them are reported, each once.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

// expected-error @below {{input "ids" has type 'tensor<?x4xi64>', expected static dimensions; bind them with --dim NAME=EXTENT (the file names them ["batch", "4"])}}
onnx.graph @symbolic(%ids: tensor<?x4xi64> {onnx.name = "ids", onnx.dims = ["batch", "4"]}) -> tensor<*xi64> {
  onnx.return %ids : tensor<?x4xi64>
}

// -----

// What depends on a wrong node is not reported again; independent problems are.
onnx.graph @several(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{Add version 14: operand 1 (B) has shape [3], which does not broadcast with [2]}}
  %a = onnx.node "Add" version 14 (%x, %y) {} : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  %b = onnx.node "Tanh" version 13 (%a) {} : (tensor<*xf32>) -> tensor<*xf32>
  // expected-error @below {{Concat version 13: attribute axis = 5, expected -1..0}}
  %c = onnx.node "Concat" version 13 (%x, %y) {axis = 5 : si64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  onnx.return %b, %c : tensor<*xf32>, tensor<*xf32>
}

// -----

onnx.graph @unknown(%x: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{operator Frobnicate version 17 is not known; 2 nodes use it}}
  %a = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2xf32>) -> tensor<*xf32>
  %b = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2xf32>) -> tensor<*xf32>
  // expected-error @below {{operator com.example.Tanh version 1 is not known; 1 node uses it}}
  %c = onnx.node domain "com.example" "Tanh" version 1 (%x) {} : (tensor<2xf32>) -> tensor<*xf32>
  onnx.return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

onnx.graph @tooOld(%x: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{operator Gelu version 7 is not known; 1 node uses it}}
  %a = onnx.node "Gelu" version 7 (%x) {} : (tensor<2xf32>) -> tensor<*xf32>
  onnx.return %a : tensor<*xf32>
}

// -----

onnx.graph @operands(%x: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.none
  // expected-error @below {{Add version 14: has 1 operands, expected 2}}
  %a = onnx.node "Add" version 14 (%x) {} : (tensor<2xf32>) -> tensor<*xf32>
  // expected-error @below {{Clip version 13: has 4 operands, expected 1..3}}
  %b = onnx.node "Clip" version 13 (%x, %x, %x, %x) {} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  // expected-error @below {{Add version 14: operand 0 (A) is left out, but required}}
  %c = onnx.node "Add" version 14 (%none, %x) {} : (none, tensor<2xf32>) -> tensor<*xf32>
  onnx.return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

onnx.graph @results(%x: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @below {{Tanh version 13: names result 1, which the operator does not have}}
  %a, %b = onnx.node "Tanh" version 13 (%x) {} : (tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.return %b : tensor<*xf32>
}

// -----

// The input behind the operand is named, through the nodes between.
onnx.graph @data(%x: tensor<2x3xf32>, %s: tensor<2xi64> {onnx.name = "size"}) -> tensor<*xf32> {
  %t = onnx.node "Neg" version 13 (%s) {} : (tensor<2xi64>) -> tensor<*xi64>
  // expected-error @below {{Reshape version 14: operand 1 (shape) must be known at compile time, but is computed from the data of size; give it with --bind size=VALUE}}
  %y = onnx.node "Reshape" version 14 (%x, %t) {} : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.return %y : tensor<*xf32>
}

// -----

onnx.graph @attributes(%x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // expected-error @below {{Elu version 6: attribute alpha = 1 : si64, expected a float}}
  %a = onnx.node "Elu" version 6 (%x) {alpha = 1 : si64} : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @below {{Gelu version 20: attribute approximate = "erf", expected one of none, tanh}}
  %b = onnx.node "Gelu" version 20 (%x) {approximate = "erf"} : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @below {{Concat version 13: attribute axis is missing, expected an integer}}
  %c = onnx.node "Concat" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

onnx.graph @overflow(%x: tensor<1xf32>) -> tensor<*xf32> {
  %s = onnx.constant dense<4611686018427387904> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Expand version 13: result 0 would have shape [4611686018427387904, 4611686018427387904], more elements than memory can hold}}
  %y = onnx.node "Expand" version 13 (%x, %s) {} : (tensor<1xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.return %y : tensor<*xf32>
}

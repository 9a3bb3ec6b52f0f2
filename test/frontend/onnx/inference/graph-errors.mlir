// All problems of a graph are reported, each once.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

// expected-error @below {{input "ids" has type 'tensor<?x4xi64>', expected static dimensions; use --dim NAME=N to set them (names in the file: ["batch", "4"])}}
onnx.graph @symbolic(%ids: tensor<?x4xi64> {onnx.name = "ids", onnx.dims = ["batch", "4"]}) -> tensor<*xi64> {
  onnx.return %ids : tensor<?x4xi64>
}

// -----

// Nodes that depend on an invalid node are not reported; independent problems are.
onnx.graph @several(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{Add version 14: operand 1 (B) has shape [3], which does not broadcast with [2]}}
  %a = onnx.node "Add" version 14 (%x, %y) {} : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xindex>
  %b = onnx.node "Tanh" version 13 (%a) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{Concat version 13: attribute axis = 5, expected -1..0}}
  %c = onnx.node "Concat" version 13 (%x, %y) {axis = 5 : si64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xindex>
  onnx.return %b, %c : tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @unknown(%x: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{operator Frobnicate version 17 is unknown; 2 nodes use it}}
  %a = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  %b = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  // expected-error @below {{operator com.example.Tanh version 1 is unknown; 1 node uses it}}
  %c = onnx.node domain "com.example" "Tanh" version 1 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

// All unknown operators are reported with suggestions, whatever their operands are.
onnx.graph @chain(%x: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{operator com.microsoft.MoE version 1 is unknown; 1 node uses it; written by onnxruntime's optimizer. Use the unoptimized model, or optimize it with ORT_ENABLE_BASIC}}
  %a = onnx.node domain "com.microsoft" "MoE" version 1 (%x, %x) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  // expected-error @below {{operator com.microsoft.BiasSoftmax version 1 is unknown; 1 node uses it; written by onnxruntime's optimizer.}}
  %b = onnx.node domain "com.microsoft" "BiasSoftmax" version 1 (%a) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{operator ai.onnx.ml.SVMClassifier version 1 is unknown; 1 node uses it; of classical models, only linear models and neural networks are supported}}
  %d = onnx.node domain "ai.onnx.ml" "SVMClassifier" version 1 (%b) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{operator my.domain.Mine version 1 is unknown; 1 node uses it; define it as a model-local function, or export the model without it}}
  %e = onnx.node domain "my.domain" "Mine" version 1 (%d) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{operator Sigmiod version 17 is unknown; 1 node uses it; did you mean 'Sigmoid'}}
  %f = onnx.node "Sigmiod" version 17 (%e) {} : (tensor<*xindex>) -> tensor<*xindex>
  // expected-error @below {{operator Zzzzzz version 17 is unknown; 1 node uses it; not an ONNX operator}}
  %g = onnx.node "Zzzzzz" version 17 (%f) {} : (tensor<*xindex>) -> tensor<*xindex>
  onnx.return %g : tensor<*xindex>
}

// -----

onnx.graph @tooOld(%x: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{operator Gelu version 7 is unknown; 1 node uses it}}
  %a = onnx.node "Gelu" version 7 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  onnx.return %a : tensor<*xindex>
}

// -----

onnx.graph @operands(%x: tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %none = onnx.none
  // expected-error @below {{Add version 14: has 1 operands, expected 2}}
  %a = onnx.node "Add" version 14 (%x) {} : (tensor<2xf32>) -> tensor<*xindex>
  // expected-error @below {{Clip version 13: has 4 operands, expected 1..3}}
  %b = onnx.node "Clip" version 13 (%x, %x, %x, %x) {} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xindex>
  // expected-error @below {{Add version 14: operand 0 (A) is required, but omitted}}
  %c = onnx.node "Add" version 14 (%none, %x) {} : (none, tensor<2xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @results(%x: tensor<2xf32>) -> tensor<*xindex> {
  // expected-error @below {{Tanh version 13: has 2 results, expected 1}}
  %a, %b = onnx.node "Tanh" version 13 (%x) {} : (tensor<2xf32>) -> (tensor<*xindex>, tensor<*xindex>)
  onnx.return %b : tensor<*xindex>
}

// -----

// The message names the input on which the operand depends, even through other nodes.
onnx.graph @data(%x: tensor<2x3xf32>, %s: tensor<2xi64> {onnx.name = "size"}) -> tensor<*xindex> {
  %t = onnx.node "Neg" version 13 (%s) {} : (tensor<2xi64>) -> tensor<*xi64>
  // expected-error @below {{Reshape version 14: operand 1 (shape) must be known at compile time, but depends on the data of size; use --bind size=VALUE}}
  %y = onnx.node "Reshape" version 14 (%x, %t) {} : (tensor<2x3xf32>, tensor<*xi64>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

onnx.graph @attributes(%x: tensor<2x3xf32>) -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{Elu version 6: attribute alpha = 1 : si64 has kind INT, expected FLOAT}}
  %a = onnx.node "Elu" version 6 (%x) {alpha = 1 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Gelu version 20: attribute approximate = "erf", expected one of none, tanh}}
  %b = onnx.node "Gelu" version 20 (%x) {approximate = "erf"} : (tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Concat version 13: attribute axis is missing, expected INT}}
  %c = onnx.node "Concat" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %a, %b, %c : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @overflow(%x: tensor<1xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<4611686018427387904> : tensor<2xi64> -> tensor<2xi64>
  // expected-error @below {{Expand version 13: result 0 would have shape [4611686018427387904, 4611686018427387904], more elements than memory can hold}}
  %y = onnx.node "Expand" version 13 (%x, %s) {} : (tensor<1xf32>, tensor<2xi64>) -> tensor<*xindex>
  onnx.return %y : tensor<*xindex>
}

// -----

// Declared types are not trusted if they depend on data...
onnx.graph @believed(%x: tensor<2x3xf32>, %n: tensor<2xi64> {onnx.name = "n"}) -> tensor<2x3xf32> {
  %first = onnx.constant dense<0> : tensor<2xi64> -> tensor<2xi64>
  %pads = onnx.node "Concat" version 13 (%n, %n) {axis = 0 : si64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  // expected-error @below {{Tile version 13: operand 1 (repeats) must be known at compile time, but depends on the data of n; use --bind n=VALUE}}
  %a = onnx.node "Tile" version 13 (%x, %n) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error @below {{Slice version 13: operand 2 (ends) must be known at compile time}}
  %b = onnx.node "Slice" version 13 (%x, %first, %n) {} : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error @below {{Expand version 13: operand 1 (shape) must be known at compile time}}
  %c = onnx.node "Expand" version 13 (%x, %n) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error @below {{Reshape version 14: operand 1 (shape) must be known at compile time}}
  %d = onnx.node "Reshape" version 14 (%x, %n) {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error @below {{Pad version 13: operand 1 (pads) must be known at compile time}}
  %e = onnx.node "Pad" version 13 (%x, %pads) {} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  %r = onnx.node "Sum" version 13 (%a, %b, %c, %d, %e) {} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.return %r : tensor<2x3xf32>
}

// -----

// ... and must not contradict the types that operands imply.
onnx.graph @contradicted(%x: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Relu version 14: result 0 has type tensor<2x3xf32>, but the file declares tensor<2x4xf32>; correct or remove the declaration}}
  %a = onnx.node "Relu" version 14 (%x) {} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  // expected-error @below {{Tanh version 13: result 0 has type tensor<2x3xf32>, but the file declares tensor<2x3xf16>}}
  %b = onnx.node "Tanh" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  // expected-error @below {{Abs version 13: result 0 has type tensor<2x3xf32>, but the file declares tensor<?xf32>}}
  %c = onnx.node "Abs" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<?xf32>
  %r = onnx.node "Sum" version 13 (%a, %b, %c) {} : (tensor<2x4xf32>, tensor<2x3xf16>, tensor<?xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

// A wrong element type is a contradiction for all sizes of symbolic dimensions.
onnx.graph @chosen(%x: tensor<2x3xf32> {onnx.dims = ["batch", ""]}) -> tensor<*xindex> {
  // expected-error @below {{Relu version 14: result 0 has type tensor<2x3xf32>, but the file declares tensor<2x3xi64>}}
  %a = onnx.node "Relu" version 14 (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  onnx.return %a : tensor<2x3xi64>
}

// -----

// Attributes of every node are checked, including attributes without effect.
onnx.graph @attributes(%x: tensor<2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Softmax version 13: has an unknown attribute 'axes'; did you mean 'axis'?}}
  %a = onnx.node "Softmax" version 13 (%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Relu version 14: has an unknown attribute 'alpha', expected none}}
  %b = onnx.node "Relu" version 14 (%x) {alpha = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Cast version 13: has an unknown attribute 'saturate', expected to}}
  %c = onnx.node "Cast" version 13 (%x) {saturate = 1 : si64, to = 1 : si64} : (tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Gemm version 13: attribute alpha has kind GRAPH, expected FLOAT}}
  %d = onnx.node "Gemm" version 13 (%x, %x) {} {unsupported_attributes = {alpha = "GRAPH"}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Upsample version 13: removed in opset version 10; convert the model with onnx.version_converter or export it again}}
  %e = onnx.node "Upsample" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<*xindex>
  // Tools may add their own metadata.
  %f = onnx.node "Tanh" version 13 (%x) {__note = "mine"} : (tensor<2x3xf32>) -> tensor<*xindex>
  onnx.return %f : tensor<*xindex>
}

// -----

// The broadcast of a tensor without elements has no elements, and the requested shape is one number.
onnx.graph @elements(%x: tensor<0x3xf32>) -> tensor<*xindex> {
  %repeats = onnx.constant dense<[2.0, 1.0]> : tensor<2xf32> -> tensor<2xf32>
  %none = onnx.constant dense<> : tensor<0xi64> -> tensor<0xi64>
  %no = onnx.constant dense<> : tensor<0xi1> -> tensor<0xi1>
  %o = onnx.none
  // expected-error @below {{Tile version 13: operand 1 (repeats) has element type f32, expected i64}}
  %a = onnx.node "Tile" version 13 (%x, %repeats) {} : (tensor<0x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  // expected-error @below {{Trilu version 14: operand 1 (k) has shape [0], expected one element}}
  %b = onnx.node "Trilu" version 14 (%x, %none) {} : (tensor<0x3xf32>, tensor<0xi64>) -> tensor<*xindex>
  // expected-error @below {{Dropout version 13: operand 2 (training_mode) has shape [0], expected one element}}
  %c = onnx.node "Dropout" version 13 (%x, %o, %no) {} : (tensor<0x3xf32>, none, tensor<0xi1>) -> tensor<*xindex>
  // expected-error @below {{Concat version 13: operand 1 (inputs) is required, but omitted}}
  %d = onnx.node "Concat" version 13 (%x, %o) {axis = 0 : si64} : (tensor<0x3xf32>, none) -> tensor<*xindex>
  %r = onnx.node "Sum" version 13 (%a, %b, %c, %d) {} : (tensor<4x3xf32>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

// If a required output depends on the node too, no optional output is omitted.
onnx.graph @shared(%x: tensor<4x3xf32> {onnx.name = "x"})
    -> (tensor<*xf32> {onnx.name = "a", onnx.optional}, tensor<*xf32> {onnx.name = "y"}) {
  // expected-error @below {{operator Frobnicate version 17 is unknown; 1 node uses it}}
  %f = onnx.node "Frobnicate" version 17 (%x) {} : (tensor<4x3xf32>) -> tensor<*xf32>
  %y = onnx.node "Tanh" version 13 (%f) {} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.return %f, %y : tensor<*xf32>, tensor<*xf32>
}

// -----

onnx.graph @unsupported(%a: tensor<1x4x4xf32>, %b: tensor<1x1x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{operator NonMaxSuppression version 11 is not supported; 1 node uses it}}
  %r = onnx.node "NonMaxSuppression" version 11 (%a, %b) {} : (tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @elements() -> tensor<8x2xf32> {
  // expected-error @below {{value has type 'tensor<1x2xf64>', the result 'tensor<8x2xf32>'; expected one type, except for an extent of 1 in the value along which elements repeat}}
  %w = onnx.constant dense<[[1.0, 2.0]]> : tensor<1x2xf64> -> tensor<8x2xf32>
  onnx.return %w : tensor<8x2xf32>
}

// -----

onnx.graph @extents() -> tensor<8x2xf32> {
  // expected-error @below {{value has type 'tensor<2x2xf32>', the result 'tensor<8x2xf32>'}}
  %w = onnx.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<8x2xf32>
  onnx.return %w : tensor<8x2xf32>
}

// -----

onnx.graph @rank() -> tensor<8x2xf32> {
  // expected-error @below {{value has type 'tensor<2xf32>', the result 'tensor<8x2xf32>'}}
  %w = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<8x2xf32>
  onnx.return %w : tensor<8x2xf32>
}

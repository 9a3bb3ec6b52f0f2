// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics

// All operators that cannot be converted are reported at once, also after a failed node.
onnx.graph @main(%x: tensor<2x3xf32>, %k: tensor<1xi64>) -> tensor<2x3xf32> {
  // expected-error @unknown {{Frobnicate version 13: the operator is not supported}}
  %a = onnx.node "Frobnicate" version 13 (%x) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("/a")
  // expected-error @below {{com.example.Gelu version 1: the operator is not supported}}
  %b = onnx.node domain "com.example" "Gelu" version 1 (%a) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @below {{Add version 6: this version is not supported; expected version 7 or later. Convert the model to a newer opset}}
  %c = onnx.node "Add" version 6 (%b, %x) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @below {{Gelu version 20: attribute approximate = "fast", expected one of none, tanh}}
  %d = onnx.node "Gelu" version 20 (%c) {approximate = "fast"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @below {{CumSum version 14: operand 1 (axis) must be known at compile time}}
  %e = onnx.node "CumSum" version 14 (%d, %k) {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  onnx.return %e : tensor<2x3xf32>
}

// -----

onnx.graph @main(%x: tensor<2x3xi1>, %i: tensor<2x3xi64>) -> tensor<2x3xi1> {
  // expected-error @below {{ScatterElements version 18: element type i1 is not supported}}
  %y = onnx.node "ScatterElements" version 18 (%x, %i, %x) {} : (tensor<2x3xi1>, tensor<2x3xi64>, tensor<2x3xi1>) -> tensor<2x3xi1>
  onnx.return %y : tensor<2x3xi1>
}

// -----

onnx.graph @main(%x: tensor<1x1x4x4xf32>, %r: tensor<1x4xf32>, %i: tensor<1xi64>) -> tensor<1x1x1x1xf32> {
  // expected-error @below {{RoiAlign version 16: attribute sampling_ratio = 0, expected a positive number; adaptive sampling depends on the data of the regions}}
  %y = onnx.node "RoiAlign" version 16 (%x, %r, %i) {} : (tensor<1x1x4x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  onnx.return %y : tensor<1x1x1x1xf32>
}

// -----

onnx.graph @main(%x: tensor<1x1x4x4xf32>, %r: tensor<1x4xf32>, %i: tensor<1xi64>) -> tensor<1x1x1x1xf32> {
  // expected-error @below {{RoiAlign version 16: needs values of shape [1, 1, 1099511627776, 1, 1099511627776, 1], more elements than can be addressed}}
  %y = onnx.node "RoiAlign" version 16 (%x, %r, %i) {sampling_ratio = 1099511627776 : si64} : (tensor<1x1x4x4xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  onnx.return %y : tensor<1x1x1x1xf32>
}

// -----

onnx.graph @main(%x: tensor<600x1x2xf32>, %w: tensor<1x3x2xf32>, %r: tensor<1x3x3xf32>) -> tensor<600x1x1x3xf32> {
  // expected-error @below {{RNN version 14: has 600 steps, expected at most 512}}
  %y = onnx.node "RNN" version 14 (%x, %w, %r) {hidden_size = 3 : si64, clip = 1.0 : f32} : (tensor<600x1x2xf32>, tensor<1x3x2xf32>, tensor<1x3x3xf32>) -> tensor<600x1x1x3xf32>
  onnx.return %y : tensor<600x1x1x3xf32>
}

// -----

onnx.graph @main(%x: tensor<2x3xf4E2M1FN>) -> tensor<2x3xf4E2M1FN> {
  // expected-error @below {{Identity version 21: element type f4E2M1FN is not supported; convert the model to another type}}
  %y = onnx.node "Identity" version 21 (%x) {} : (tensor<2x3xf4E2M1FN>) -> tensor<2x3xf4E2M1FN>
  onnx.return %y : tensor<2x3xf4E2M1FN>
}

// -----

onnx.graph @main(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @below {{has type 'tensor<*xf32>'; expected a static shape. Run onnx-infer-and-fold first}}
  %y = onnx.node "Relu" version 14 (%x) {} : (tensor<2x3xf32>) -> tensor<*xf32>
  onnx.return %y : tensor<*xf32>
}

// -----

// expected-error @below {{the graph has dynamic input shapes; set their dimensions first}}
onnx.graph @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  onnx.return %x : tensor<?x3xf32>
}

// -----

// expected-error @below {{expected a graph @main}}
module {
}

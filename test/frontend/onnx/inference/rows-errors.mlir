// Errors of type inference for operators on rows.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @lengths(%x: tensor<4x2x3xf32>, %n: tensor<4xi64>) -> tensor<*xindex> {
  // expected-error @below {{ReverseSequence version 10: operand 1 (sequence_lens) has 4 lengths, expected 2}}
  %r = onnx.node "ReverseSequence" version 10 (%x, %n) {} : (tensor<4x2x3xf32>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @axes(%x: tensor<4x2x3xf32>, %n: tensor<4xi64>) -> tensor<*xindex> {
  // expected-error @below {{ReverseSequence version 10: attributes batch_axis and time_axis are both 0}}
  %r = onnx.node "ReverseSequence" version 10 (%x, %n) {batch_axis = 0 : si64, time_axis = 0 : si64} : (tensor<4x2x3xf32>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rowsAxis(%x: tensor<4x2x3xf32>, %u: tensor<1x2x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{TensorScatter version 24: attribute axis is the batch axis; expected another axis}}
  %r = onnx.node "TensorScatter" version 24 (%x, %u) {axis = 0 : si64} : (tensor<4x2x3xf32>, tensor<1x2x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @updates(%x: tensor<4x2x3xf32>, %u: tensor<4x3x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{TensorScatter version 24: operand 1 (update) has shape [4, 3, 3], expected [4, 2, 3] or less on axis 1}}
  %r = onnx.node "TensorScatter" version 24 (%x, %u) {} : (tensor<4x2x3xf32>, tensor<4x3x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @begins(%x: tensor<4x2x3xf32>, %u: tensor<4x1x3xf32>, %b: tensor<3xi64>) -> tensor<*xindex> {
  // expected-error @below {{TensorScatter version 24: operand 2 (write_indices) has shape [3], expected [4]}}
  %r = onnx.node "TensorScatter" version 24 (%x, %u, %b) {} : (tensor<4x2x3xf32>, tensor<4x1x3xf32>, tensor<3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @uniqueOfData(%x: tensor<4xf32>) -> tensor<*xindex> {
  // expected-error @below {{Unique version 11: operand 0 (X) must be known at compile time, but depends on the data of argument 0; use --bind argument 0=VALUE}}
  %r = onnx.node "Unique" version 11 (%x) {} : (tensor<4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @samples(%x: tensor<4x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{Multinomial version 7: draws 0 samples of 3 classes, expected at least 1 of each}}
  %r = onnx.node "Multinomial" version 7 (%x) {sample_size = 0 : si64} : (tensor<4x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

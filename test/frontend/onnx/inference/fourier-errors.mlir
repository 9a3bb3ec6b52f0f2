// Errors of type inference for Fourier transforms, windows of signals, and determinants.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @lastAxis(%x: tensor<2x8x1xf32>) -> tensor<*xindex> {
  // expected-error @below {{DFT version 17: transforms the last axis, which holds the real and imaginary parts}}
  %r = onnx.node "DFT" version 17 (%x) {axis = -1 : si64} : (tensor<2x8x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @parts(%x: tensor<2x8x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{DFT version 17: operand 0 (input) has shape [2, 8, 3], expected 1 or 2 on the last axis}}
  %r = onnx.node "DFT" version 17 (%x) {} : (tensor<2x8x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @halfOfComplex(%x: tensor<2x8x2xf32>) -> tensor<*xindex> {
  // expected-error @below {{DFT version 17: has complex numbers in a one-sided transform, expected real numbers}}
  %r = onnx.node "DFT" version 17 (%x) {onesided = 1 : si64} : (tensor<2x8x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @halfOfReal(%x: tensor<2x8x1xf32>) -> tensor<*xindex> {
  // expected-error @below {{DFT version 17: has real numbers in a one-sided inverse transform, expected complex numbers}}
  %r = onnx.node "DFT" version 17 (%x) {onesided = 1 : si64, inverse = 1 : si64} : (tensor<2x8x1xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @lengthOfData(%x: tensor<2x8x1xf32>, %n: tensor<i64>) -> tensor<*xindex> {
  // expected-error @below {{DFT version 20: operand 1 (dft_length) must be known at compile time, but depends on the data of argument 1; use --bind argument 1=VALUE}}
  %r = onnx.node "DFT" version 20 (%x, %n) {} : (tensor<2x8x1xf32>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @frames(%x: tensor<2x8x1xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %w = onnx.none
  %n = onnx.constant dense<9> : tensor<i64> -> tensor<i64>
  // expected-error @below {{STFT version 17: has frames of 9 points with step 2, expected at least 1 and at most the signal length 8}}
  %r = onnx.node "STFT" version 17 (%x, %s, %w, %n) {} : (tensor<2x8x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @window(%x: tensor<2x8x1xf32>, %w: tensor<6xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<2> : tensor<i64> -> tensor<i64>
  %n = onnx.constant dense<4> : tensor<i64> -> tensor<i64>
  // expected-error @below {{STFT version 17: operand 2 (window) has 6 points, expected at most the frame length 4}}
  %r = onnx.node "STFT" version 17 (%x, %s, %w, %n) {} : (tensor<2x8x1xf32>, tensor<i64>, tensor<6xf32>, tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @size() -> tensor<*xindex> {
  %n = onnx.constant dense<-3> : tensor<i64> -> tensor<i64>
  // expected-error @below {{HannWindow version 17: operand 0 (size) must hold one integer of at least 0, and at most 67108864}}
  %r = onnx.node "HannWindow" version 17 (%n) {} : (tensor<i64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @noEdges() -> tensor<*xindex> {
  %a = onnx.constant dense<4> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<15> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<8000> : tensor<i64> -> tensor<i64>
  %d = onnx.constant dense<4000.0> : tensor<f32> -> tensor<f32>
  %e = onnx.constant dense<4000.0> : tensor<f32> -> tensor<f32>
  // expected-error @below {{MelWeightMatrix version 17: has edges of 4000.000000 and 4000.000000 Hz, expected increasing edges up to half of the sample rate, and non-negative counts}}
  %r = onnx.node "MelWeightMatrix" version 17 (%a, %b, %c, %d, %e) {} : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @edges() -> tensor<*xindex> {
  %a = onnx.constant dense<4> : tensor<i64> -> tensor<i64>
  %b = onnx.constant dense<16> : tensor<i64> -> tensor<i64>
  %c = onnx.constant dense<8000> : tensor<i64> -> tensor<i64>
  %d = onnx.constant dense<100.0> : tensor<f32> -> tensor<f32>
  %e = onnx.constant dense<5000.0> : tensor<f32> -> tensor<f32>
  // expected-error @below {{MelWeightMatrix version 17: has edges of 100.000000 and 5000.000000 Hz, expected increasing edges up to half of the sample rate, and non-negative counts}}
  %r = onnx.node "MelWeightMatrix" version 17 (%a, %b, %c, %d, %e) {} : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @square(%x: tensor<2x3x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{Det version 11: operand 0 (X) has shape [2, 3, 4], expected square matrices}}
  %r = onnx.node "Det" version 11 (%x) {} : (tensor<2x3x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

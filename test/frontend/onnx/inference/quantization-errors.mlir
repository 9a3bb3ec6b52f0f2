// Quantization: invalid nodes.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @scalar(%x: tensor<f32>, %s: tensor<3xf32>, %z: tensor<3xui8>) -> tensor<*xindex> {
  // expected-error @below {{QuantizeLinear version 19: operand 1 (y_scale) has shape [3], expected one element}}
  %r = onnx.node "QuantizeLinear" version 19 (%x, %s, %z) {} : (tensor<f32>, tensor<3xf32>, tensor<3xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %z: tensor<2xui8>) -> tensor<*xindex> {
  // expected-error @below {{QuantizeLinear version 19: operand 1 (y_scale) has shape [2], expected one element or [3]}}
  %r = onnx.node "QuantizeLinear" version 19 (%x, %s, %z) {} : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @blockScale(%x: tensor<2x7xf32>, %s: tensor<2x3xf32>, %z: tensor<2x3xui8>) -> tensor<*xindex> {
  // expected-error @below {{QuantizeLinear version 21: operand 1 (y_scale) has shape [2, 3], expected one element or [2, 4]}}
  %r = onnx.node "QuantizeLinear" version 21 (%x, %s, %z) {block_size = 2 : si64} : (tensor<2x7xf32>, tensor<2x3xf32>, tensor<2x3xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @zeroPoint(%x: tensor<2x3xui8>, %s: tensor<3xf32>, %z: tensor<2xui8>) -> tensor<*xindex> {
  // expected-error @below {{DequantizeLinear version 19: operand 2 (x_zero_point) has shape [2], expected one element or [3]}}
  %r = onnx.node "DequantizeLinear" version 19 (%x, %s, %z) {} : (tensor<2x3xui8>, tensor<3xf32>, tensor<2xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @factors(%a: tensor<2x3xui8>, %b: tensor<4x2xui8>) -> tensor<*xindex> {
  // expected-error @below {{MatMulInteger version 10: cannot multiply shapes [2, 3] and [4, 2]}}
  %r = onnx.node "MatMulInteger" version 10 (%a, %b) {} : (tensor<2x3xui8>, tensor<4x2xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @rowZeros(%a: tensor<2x3xui8>, %b: tensor<3x4xui8>, %z: tensor<3xui8>) -> tensor<*xindex> {
  // expected-error @below {{MatMulInteger version 10: operand 2 (a_zero_point) has shape [3], which does not match [2, 3]}}
  %r = onnx.node "MatMulInteger" version 10 (%a, %b, %z) {} : (tensor<2x3xui8>, tensor<3x4xui8>, tensor<3xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @scales(%a: tensor<2x3xui8>, %as: tensor<2xf32>, %az: tensor<ui8>, %b: tensor<3x4xui8>, %bs: tensor<f32>, %bz: tensor<ui8>, %ys: tensor<f32>, %yz: tensor<ui8>) -> tensor<*xindex> {
  // expected-error @below {{QLinearMatMul version 10: operand 1 (a_scale) has shape [2], expected one element}}
  %r = onnx.node "QLinearMatMul" version 10 (%a, %as, %az, %b, %bs, %bz, %ys, %yz) {} : (tensor<2x3xui8>, tensor<2xf32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @channels(%x: tensor<1x3x5x5xui8>, %w: tensor<4x2x3x3xui8>) -> tensor<*xindex> {
  // expected-error @below {{ConvInteger version 10: operand 1 (w) has shape [4, 2, 3, 3], expected 3 on axis 1 (3 channels in 1 groups)}}
  %r = onnx.node "ConvInteger" version 10 (%x, %w) {} : (tensor<1x3x5x5xui8>, tensor<4x2x3x3xui8>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @bias(%x: tensor<1x3x5x5xui8>, %xs: tensor<f32>, %xz: tensor<ui8>, %w: tensor<4x3x3x3xui8>, %ws: tensor<4xf32>, %wz: tensor<4xui8>, %ys: tensor<f32>, %yz: tensor<ui8>, %b: tensor<3xi32>) -> tensor<*xindex> {
  // expected-error @below {{QLinearConv version 10: operand 8 (B) has shape [3], expected [4]}}
  %r = onnx.node "QLinearConv" version 10 (%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {} : (tensor<1x3x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x3x3x3xui8>, tensor<4xf32>, tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<3xi32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// Errors of type inference for interpolated sampling and regions.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics

onnx.graph @gridShape(%x: tensor<2x3x4x4xf32>, %g: tensor<2x5x5x3xf32>) -> tensor<*xindex> {
  // expected-error @below {{GridSample version 20: operand 1 (grid) has shape [2, 5, 5, 3], expected 2 first and 2 last}}
  %r = onnx.node "GridSample" version 20 (%x, %g) {} : (tensor<2x3x4x4xf32>, tensor<2x5x5x3xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gridMode(%x: tensor<2x3x4x4xf32>, %g: tensor<2x5x5x2xf32>) -> tensor<*xindex> {
  // expected-error @below {{GridSample version 16: attribute mode = "linear", expected one of nearest, bilinear, bicubic}}
  %r = onnx.node "GridSample" version 16 (%x, %g) {mode = "linear"} : (tensor<2x3x4x4xf32>, tensor<2x5x5x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @gridOfNothing(%x: tensor<2x3x0x4xf32>, %g: tensor<2x5x5x2xf32>) -> tensor<*xindex> {
  // expected-error @below {{GridSample version 20: samples axis 2, which is empty}}
  %r = onnx.node "GridSample" version 20 (%x, %g) {} : (tensor<2x3x0x4xf32>, tensor<2x5x5x2xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @affineSize(%t: tensor<2x2x3xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<[2, 3, 4]> : tensor<3xi64> -> tensor<3xi64>
  // expected-error @below {{AffineGrid version 20: operand 1 (size) = [2, 3, 4], expected 4 or 5 extents}}
  %r = onnx.node "AffineGrid" version 20 (%t, %s) {} : (tensor<2x2x3xf32>, tensor<3xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @affineTheta(%t: tensor<2x2x4xf32>) -> tensor<*xindex> {
  %s = onnx.constant dense<[2, 1, 4, 4]> : tensor<4xi64> -> tensor<4xi64>
  // expected-error @below {{AffineGrid version 20: operand 0 (theta) has shape [2, 2, 4], expected [2, 2, 3]}}
  %r = onnx.node "AffineGrid" version 20 (%t, %s) {} : (tensor<2x2x4xf32>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @affineOfData(%t: tensor<2x2x3xf32>, %s: tensor<4xi64>) -> tensor<*xindex> {
  // expected-error @below {{AffineGrid version 20: operand 1 (size) must be known at compile time, but depends on the data of argument 1; use --bind argument 1=VALUE}}
  %r = onnx.node "AffineGrid" version 20 (%t, %s) {} : (tensor<2x2x3xf32>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @regions(%x: tensor<2x3x8x8xf32>, %b: tensor<5x4xf32>, %i: tensor<4xi64>) -> tensor<*xindex> {
  // expected-error @below {{RoiAlign version 16: has regions of shape [5, 4] and batch indices of shape [4], expected [R, 4] and [R]}}
  %r = onnx.node "RoiAlign" version 16 (%x, %b, %i) {} : (tensor<2x3x8x8xf32>, tensor<5x4xf32>, tensor<4xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @bins(%x: tensor<2x3x8x8xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi64>) -> tensor<*xindex> {
  // expected-error @below {{RoiAlign version 16: has 0 x 1 bins, expected at least 1 x 1}}
  %r = onnx.node "RoiAlign" version 16 (%x, %b, %i) {output_height = 0 : si64} : (tensor<2x3x8x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @pooledRegions(%x: tensor<2x3x8x8xf32>, %b: tensor<5x4xf32>) -> tensor<*xindex> {
  // expected-error @below {{MaxRoiPool version 1: operand 1 (rois) has shape [5, 4], expected [R, 5]}}
  %r = onnx.node "MaxRoiPool" version 1 (%x, %b) {pooled_shape = array<i64: 2, 2>} : (tensor<2x3x8x8xf32>, tensor<5x4xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @pooledShape(%x: tensor<2x3x8x8xf32>, %b: tensor<5x5xf32>) -> tensor<*xindex> {
  // expected-error @below {{MaxRoiPool version 1: attribute pooled_shape = [2], expected two positive numbers}}
  %r = onnx.node "MaxRoiPool" version 1 (%x, %b) {pooled_shape = array<i64: 2>} : (tensor<2x3x8x8xf32>, tensor<5x5xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @offsets(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>, %o: tensor<1x18x8x8xf32>) -> tensor<*xindex> {
  // expected-error @below {{DeformConv version 19: operand 2 (offset) has shape [1, 18, 8, 8], expected [1, 18, 6, 6]}}
  %r = onnx.node "DeformConv" version 19 (%x, %w, %o) {group = 2 : si64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<1x18x8x8xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

// -----

onnx.graph @offsetGroups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %o: tensor<1x18x6x6xf32>) -> tensor<*xindex> {
  // expected-error @below {{DeformConv version 19: has 4 channels, a weight of shape [6, 4, 3, 3], 1 groups and 3 offset groups, which do not match}}
  %r = onnx.node "DeformConv" version 19 (%x, %w, %o) {offset_group = 3 : si64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>) -> tensor<*xindex>
  onnx.return %r : tensor<*xindex>
}

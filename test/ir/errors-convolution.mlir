// One function for each numbered constraint of ConvolutionOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @convolve_c1_channels(%x: tensor<2x8x3xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @below {{input, weights and output have extents [2, 8, 3], [4, 2, 3] and [2, 6, 4], expected [N, I.., G * C], [G * M, C, K..] and [N, O.., G * M] for 1 groups and 1 axes of windows, 1 to 3 (convolve_c1)}}
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x2x3xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @convolve_c1_axes(%x: tensor<2x8x3xf32>, %y: tensor<2x6x4xf32>) {
  // expected-error @below {{for 1 groups and 2 axes of windows, 1 to 3 (convolve_c1)}}
  %w = mtc.convolve_weight_gradient %x, %y before [0] strides [1, 1] dilations [1] : (tensor<2x8x3xf32>, tensor<2x6x4xf32>) -> tensor<4x3x3xf32>
  return
}

// -----

func.func @convolve_c1_too_many_axes(%x: tensor<2x8x8x8x8x3xf32>, %w: tensor<4x3x1x1x1x1xf32>) {
  // expected-error @below {{for 1 groups and 4 axes of windows, 1 to 3 (convolve_c1)}}
  %y = mtc.convolve %x, %w before [0, 0, 0, 0] strides [1, 1, 1, 1] dilations [1, 1, 1, 1] : (tensor<2x8x8x8x8x3xf32>, tensor<4x3x1x1x1x1xf32>) -> tensor<2x8x8x8x8x4xf32>
  return
}

// -----

func.func @convolve_c2(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{has groups 1, before [-1], strides [1] and dilations [1], expected numbers of at least 1, and of at least 0 for before (convolve_c2)}}
  %y = mtc.convolve %x, %w before [-1] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @convolve_c2_groups(%y: tensor<2x6x4xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{has groups 0, before [0], strides [1] and dilations [1], expected numbers of at least 1, and of at least 0 for before (convolve_c2)}}
  %x = mtc.transposed_convolve %y, %w groups 0 before [0] strides [1] dilations [1] : (tensor<2x6x4xf32>, tensor<4x3x3xf32>) -> tensor<2x8x3xf32>
  return
}

// -----

func.func @convolve_c3(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{along window axis 0 the positions of 6 windows of 3 taps with stride 4611686018427387904 and dilation 1 do not fit into 64 bits (convolve_c3)}}
  %y = mtc.convolve %x, %w before [0] strides [4611686018427387904] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @convolve_c4(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf64>) {
  // expected-error @below {{element types of input, weights and output differ, expected the same, or a result of f32 where operands are narrower (convolve_c4)}}
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf32>, tensor<4x3x3xf64>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @fused_convolve_c1(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{expected a bias or an addend of the extents of 'tensor<2x6x4xf32>', of the operands' element type, or f32 if that is narrower, or relu as its activation (fused_convolve_c1)}}
  %y = mtc.fused_convolve %x, %w before [0] strides [1] dilations [1] : tensor<2x8x3xf32>, tensor<4x3x3xf32> -> tensor<2x6x4xf32>
  return
}

// -----

func.func @fused_convolve_c1_bias(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expected a bias or an addend of the extents of 'tensor<2x6x4xf32>', of the operands' element type, or f32 if that is narrower, or relu as its activation (fused_convolve_c1)}}
  %y = mtc.fused_convolve %x, %w bias %b : tensor<4xf32> before [0] strides [1] dilations [1] : tensor<2x8x3xf32>, tensor<4x3x3xf32> -> tensor<2x6x4xf32>
  return
}

// -----

func.func @fused_convolve_c1_activation(%x: tensor<2x8x3xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @below {{or relu as its activation (fused_convolve_c1)}}
  %y = mtc.fused_convolve %x, %w then gelu before [0] strides [1] dilations [1] : tensor<2x8x3xf32>, tensor<4x3x3xf32> -> tensor<2x6x4xf32>
  return
}

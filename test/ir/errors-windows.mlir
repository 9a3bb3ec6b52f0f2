// One function for each numbered constraint of WindowOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @windows_c1_axes(%x: tensor<2x8xf32>) {
  // expected-error @below {{has axes [2], strides [1] and dilations [1], expected ascending axes of a tensor of rank 2, each with a positive stride and dilation (windows_c1)}}
  %w = mtc.windows %x axes [2] strides [1] dilations [1] : tensor<2x8xf32> -> tensor<2x6x3xf32>
  return
}

// -----

func.func @windows_c1_strides(%x: tensor<2x8xf32>) {
  // expected-error @below {{strides [0] and dilations [1], expected ascending axes of a tensor of rank 2, each with a positive stride and dilation (windows_c1)}}
  %w = mtc.windows %x axes [1] strides [0] dilations [1] : tensor<2x8xf32> -> tensor<2x6x3xf32>
  return
}

// -----

func.func @windows_c1_dilations(%x: tensor<2x8xf32>) {
  // expected-error @below {{strides [1] and dilations [1, 1], expected ascending axes of a tensor of rank 2, each with a positive stride and dilation (windows_c1)}}
  %w = mtc.windows %x axes [1] strides [1] dilations [1, 1] : tensor<2x8xf32> -> tensor<2x6x3xf32>
  return
}

// -----

func.func @windows_c2_rank(%x: tensor<2x8xf32>) {
  // expected-error @below {{windows are 'tensor<2x6xf32>' along 'tensor<2x8xf32>', expected 1 axes more and equal extents on axes other than [1] (windows_c2)}}
  %w = mtc.windows %x axes [1] strides [1] dilations [1] : tensor<2x8xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @windows_c2_extent(%x: tensor<2x8xf32>) {
  // expected-error @below {{windows are 'tensor<3x6x3xf32>' along 'tensor<2x8xf32>', expected 1 axes more and equal extents on axes other than [1] (windows_c2)}}
  %w = mtc.windows %x axes [1] strides [1] dilations [1] : tensor<2x8xf32> -> tensor<3x6x3xf32>
  return
}

// -----

func.func @windows_c3(%x: tensor<2x8xf32>) {
  // expected-error @below {{axis 1 has extent 8, too short for 3 windows of 3 taps with stride 2 and dilation 2 (windows_c3)}}
  %w = mtc.windows %x axes [1] strides [2] dilations [2] : tensor<2x8xf32> -> tensor<2x3x3xf32>
  return
}

// -----

func.func @windows_c3_large(%x: tensor<2x8xf32>) {
  // expected-error @below {{too short for 5 windows of 3 taps with stride 9223372036854775807 and dilation 1 (windows_c3)}}
  %w = mtc.windows %x axes [1] strides [9223372036854775807] dilations [1] : tensor<2x8xf32> -> tensor<2x5x3xf32>
  return
}

// -----

func.func @overlap_add_c1_axes(%y: tensor<2x6x3xf32>) {
  // expected-error @below {{has axes [-1], strides [1] and dilations [1], expected ascending axes of a tensor of rank 2}}
  %x = mtc.overlap_add %y axes [-1] offsets [0] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @overlap_add_c1_offsets(%y: tensor<2x6x3xf32>) {
  // expected-error @below {{offsets [-1] must hold 1 numbers that are not negative (overlap_add_c1)}}
  %x = mtc.overlap_add %y axes [1] offsets [-1] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @overlap_add_c2(%y: tensor<2x6x3xf32>) {
  // expected-error @below {{windows are 'tensor<2x6x3xf32>' along 'tensor<3x8xf32>', expected 1 axes more and equal extents on axes other than [1] (overlap_add_c2)}}
  %x = mtc.overlap_add %y axes [1] offsets [0] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<3x8xf32>
  return
}

// -----

func.func @overlap_add_c3(%y: tensor<2x6x3xf32>) {
  // expected-error @below {{along axis 1 the positions of 6 windows of 3 taps with stride 9223372036854775807 and dilation 1, or of 8 elements from offset 0, do not fit into 64 bits (overlap_add_c3)}}
  %x = mtc.overlap_add %y axes [1] offsets [0] strides [9223372036854775807] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @overlap_add_c3_offset(%y: tensor<2x6x3xf32>) {
  // expected-error @below {{or of 8 elements from offset 9223372036854775807, do not fit into 64 bits (overlap_add_c3)}}
  %x = mtc.overlap_add %y axes [1] offsets [9223372036854775807] strides [1] dilations [1] : tensor<2x6x3xf32> -> tensor<2x8xf32>
  return
}

// One violation of each constraint of ShapeOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @iota_c1() -> tensor<4x8xi64> {
  // expected-error @below {{axis 2 is not within the result's rank 2 (iota_c1)}}
  %i = mtc.iota 2 : tensor<4x8xi64>
  return %i : tensor<4x8xi64>
}

// -----

func.func @broadcast_c1(%x: tensor<4xf32>) {
  // expected-error @below {{axes [2, 0] must be ascending axes of the result, of rank 3 (broadcast_c1)}}
  %b = mtc.broadcast %x axes [2, 0] : tensor<4xf32> -> tensor<8x4x16xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4xf32>) {
  // expected-error @below {{operand has extents [4], expected the result's without the axes, [5] (broadcast_c2)}}
  %b = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x5xf32>
  return
}

// -----

func.func @broadcast_c2_element(%x: tensor<4xf32>) {
  // expected-error @below {{operand has elements 'f32', expected the result's, 'bf16' (broadcast_c2)}}
  %b = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x4xbf16>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4x6xf32>) {
  // expected-error @below {{cannot reshape 'tensor<4x6xf32>' to 'tensor<5x5xf32>': they must have equally many elements of the same type (reshape_c1)}}
  %r = mtc.reshape %x : tensor<4x6xf32> -> tensor<5x5xf32>
  return
}

// -----

// 2^32 * 2^32 * 4 elements do not fit into 64 bits; they are not 0.
func.func @reshape_c1_overflow(%x: tensor<0xf32>) {
  // expected-error @below {{(reshape_c1)}}
  %r = mtc.reshape %x : tensor<0xf32> -> tensor<4294967296x4294967296x4xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{permutation [0, 0] must hold each axis of the operand of rank 2 once (transpose_c1)}}
  %t = mtc.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error @below {{result is 'tensor<2x3xf32>', expected extents [3, 2] of 'f32' (transpose_c2)}}
  %t = mtc.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x12xf32>) {
  // expected-error @below {{offsets [0, -1] and strides [1, 1] must be 2 each, offsets not negative, strides positive (slice_c1)}}
  %s = mtc.slice %x offsets [0, -1] strides [1, 1] : tensor<4x12xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x12xf32>) {
  // expected-error @below {{axis 1 has extent 12, too short for 4 elements from 3 by 3 (slice_c2)}}
  %s = mtc.slice %x offsets [0, 3] strides [1, 3] : tensor<4x12xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c2_overflow(%x: tensor<4xf32>) {
  // expected-error @below {{axis 0 has extent 4, too short for 3 elements from 0 by 9223372036854775807 (slice_c2)}}
  %s = mtc.slice %x offsets [0] strides [9223372036854775807] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4xf32>) {
  // expected-error @below {{high [-1] must hold 1 numbers that are not negative (pad_c1)}}
  %p = mtc.pad %x low [1] high [-1] interior [0] value 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4xf32>) {
  // expected-error @below {{result has extent 9 along axis 0, expected 10 (pad_c2)}}
  %p = mtc.pad %x low [1] high [2] interior [1] value 0.0 : f32 : tensor<4xf32> -> tensor<9xf32>
  return
}

// -----

func.func @pad_c2_overflow(%x: tensor<4xf32>) {
  // expected-error @below {{the result's extent along axis 0 does not fit into 64 bits (pad_c2)}}
  %p = mtc.pad %x low [9223372036854775807] high [9223372036854775807] interior [0] value 0.0 : f32 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4xf32>) {
  // expected-error @below {{value is 'i64', expected 'f32' (pad_c3)}}
  %p = mtc.pad %x low [1] high [0] interior [0] value 0 : i64 : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{axes [0, 2] must be ascending axes of a tensor of rank 2 (reverse_c1)}}
  %r = mtc.reverse %x axes [0, 2] : tensor<4x8xf32>
  return
}

// -----

func.func @concatenate_c1_none() {
  // expected-error @below {{has no operand, expected one at least (concatenate_c1)}}
  %c = "mtc.concatenate"() {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concatenate_c1(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{operand 1 is 'tensor<2xf32>', expected rank 2 and elements 'f32' (concatenate_c1)}}
  %c = mtc.concatenate %a, %b axis 1 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @concatenate_c2(%a: tensor<2x3xf32>) {
  // expected-error @below {{axis -1 is not within rank 2 (concatenate_c2)}}
  %c = mtc.concatenate %a, %a axis -1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concatenate_c3(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{operand 1 has extents [4, 3], expected [2, 3] (concatenate_c3)}}
  %c = mtc.concatenate %a, %b axis 1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concatenate_c3_sum(%a: tensor<2x3xf32>) {
  // expected-error @below {{result has extent 5 along axis 1, expected 6 (concatenate_c3)}}
  %c = mtc.concatenate %a, %a axis 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @strided_view_c1(%x: tensor<4x16xf32>) {
  // expected-error @below {{offset 0 and strides [-1, 1] must not be negative, with a stride for each of 2 axes (strided_view_c1)}}
  %v = mtc.strided_view %x offset 0 strides [-1, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @strided_view_c2(%x: tensor<4x16xf32>) {
  // expected-error @below {{reads 'f32' up to element 64 of 'tensor<4x16xf32>', expected elements of the source (strided_view_c2)}}
  %v = mtc.strided_view %x offset 9 strides [16, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @strided_view_c3(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{is read by mtc.exp, which is not a library call (strided_view_c3)}}
  %v = mtc.strided_view %x offset 8 strides [16, 1] : tensor<4x16xf32> -> tensor<4x8xf32>
  %y = mtc.exp %v : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

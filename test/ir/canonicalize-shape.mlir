// Canonicalization of constants and of operations that move data.
// RUN: mtc-opt %s -canonicalize | FileCheck %s

// Operations that move no data are removed.
// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: return %[[X]] : tensor<4x8xf32>
func.func @identities(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = mtc.transpose %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %b = mtc.reshape %a : tensor<4x8xf32> -> tensor<4x8xf32>
  %c = mtc.broadcast %b axes [] : tensor<4x8xf32> -> tensor<4x8xf32>
  %d = mtc.slice %c offsets [0, 0] strides [1, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %e = mtc.pad %d low [0, 0] high [0, 0] interior [0, 0] value 1.0 : f32 : tensor<4x8xf32> -> tensor<4x8xf32>
  %f = mtc.concatenate %e axis 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = mtc.reverse %f axes [] : tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reverse_of_one
// CHECK-NEXT: return %arg0
func.func @reverse_of_one(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %r = mtc.reverse %x axes [0] : tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @reverse_twice
// CHECK-NEXT: return %arg0
func.func @reverse_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = mtc.reverse %x axes [1] : tensor<4x8xf32>
  %s = mtc.reverse %r axes [1] : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// A splat remains a splat.
// CHECK-LABEL: func.func @splats
// CHECK-NEXT: %[[C:.*]] = mtc.constant dense<2.000000e+00> : tensor<3x3xf32>
// CHECK-NEXT: return %[[C]]
func.func @splats() -> tensor<3x3xf32> {
  %c = mtc.constant dense<2.0> : tensor<4xf32>
  %b = mtc.broadcast %c axes [0] : tensor<4xf32> -> tensor<6x4xf32>
  %t = mtc.transpose %b [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %r = mtc.reshape %t : tensor<4x6xf32> -> tensor<3x8xf32>
  %s = mtc.slice %r offsets [0, 1] strides [1, 4] : tensor<3x8xf32> -> tensor<3x2xf32>
  %v = mtc.reverse %s axes [0] : tensor<3x2xf32>
  %p = mtc.pad %v low [0, 1] high [0, 0] interior [0, 0] value 2.0 : f32 : tensor<3x2xf32> -> tensor<3x3xf32>
  return %p : tensor<3x3xf32>
}

// The result is not a splat if the padding has another value.
// CHECK-LABEL: func.func @pad_of_splat
// CHECK: mtc.pad
func.func @pad_of_splat() -> tensor<3xf32> {
  %c = mtc.constant dense<2.0> : tensor<2xf32>
  %p = mtc.pad %c low [1] high [0] interior [0] value 0.0 : f32 : tensor<2xf32> -> tensor<3xf32>
  return %p : tensor<3xf32>
}

// CHECK-LABEL: func.func @pad_of_nothing
// CHECK-NEXT: mtc.constant dense<3.000000e+00> : tensor<3xf32>
func.func @pad_of_nothing(%x: tensor<0xf32>) -> tensor<3xf32> {
  %p = mtc.pad %x low [1] high [2] interior [0] value 3.0 : f32 : tensor<0xf32> -> tensor<3xf32>
  return %p : tensor<3xf32>
}

// CHECK-LABEL: func.func @concatenate_splats
// CHECK-NEXT: mtc.constant dense<true> : tensor<5xi1>
func.func @concatenate_splats() -> tensor<5xi1> {
  %a = mtc.constant dense<true> : tensor<2xi1>
  %b = mtc.constant dense<true> : tensor<3xi1>
  %c = mtc.concatenate %a, %b axis 0 : (tensor<2xi1>, tensor<3xi1>) -> tensor<5xi1>
  return %c : tensor<5xi1>
}

// Operands without elements are removed.
// CHECK-LABEL: func.func @concatenate_empty
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<0x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[B]]
func.func @concatenate_empty(%a: tensor<0x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = mtc.concatenate %a, %b axis 0 : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// The operations are applied to small constants at compile time.
// CHECK-LABEL: func.func @small_constants
// CHECK-DAG: mtc.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
// CHECK-DAG: mtc.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
// CHECK-DAG: mtc.constant dense<{{\[\[}}4, 6]]> : tensor<1x2xi64>
// CHECK-DAG: mtc.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi64>
// CHECK-DAG: mtc.constant dense<{{\[\[\[}}1, 2, 3], [1, 2, 3]], {{\[\[}}4, 5, 6], [4, 5, 6]]]> : tensor<2x2x3xi64>
// CHECK-NEXT: return
func.func @small_constants()
    -> (tensor<3x2xi64>, tensor<3x2xi64>, tensor<1x2xi64>, tensor<2x3xi64>, tensor<2x2x3xi64>) {
  %c = mtc.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %t = mtc.transpose %c [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  %r = mtc.reshape %c : tensor<2x3xi64> -> tensor<3x2xi64>
  %s = mtc.slice %c offsets [1, 0] strides [1, 2] : tensor<2x3xi64> -> tensor<1x2xi64>
  %v = mtc.reverse %c axes [1] : tensor<2x3xi64>
  %b = mtc.broadcast %c axes [1] : tensor<2x3xi64> -> tensor<2x2x3xi64>
  return %t, %r, %s, %v, %b : tensor<3x2xi64>, tensor<3x2xi64>, tensor<1x2xi64>, tensor<2x3xi64>, tensor<2x2x3xi64>
}

// CHECK-LABEL: func.func @compose_transposes
// CHECK-NEXT: mtc.transpose %arg0 [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
func.func @compose_transposes(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %a = mtc.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %b = mtc.transpose %a [1, 0, 2] : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  return %b : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @transpose_of_units
// CHECK-NEXT: mtc.reshape %arg0 : tensor<2x1x4xf32> -> tensor<1x2x4xf32>
func.func @transpose_of_units(%x: tensor<2x1x4xf32>) -> tensor<1x2x4xf32> {
  %t = mtc.transpose %x [1, 0, 2] : tensor<2x1x4xf32> -> tensor<1x2x4xf32>
  return %t : tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @transpose_of_broadcast
// CHECK-NEXT: mtc.broadcast %arg0 axes [1] : tensor<4xf32> -> tensor<4x8xf32>
func.func @transpose_of_broadcast(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %b = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x4xf32>
  %t = mtc.transpose %b [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @transpose_of_broadcast_matrix
// CHECK-NEXT: %[[T:.*]] = mtc.transpose %arg0 [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
// CHECK-NEXT: mtc.broadcast %[[T]] axes [2] : tensor<5x4xf32> -> tensor<5x4x8xf32>
func.func @transpose_of_broadcast_matrix(%x: tensor<4x5xf32>) -> tensor<5x4x8xf32> {
  %b = mtc.broadcast %x axes [0] : tensor<4x5xf32> -> tensor<8x4x5xf32>
  %t = mtc.transpose %b [2, 1, 0] : tensor<8x4x5xf32> -> tensor<5x4x8xf32>
  return %t : tensor<5x4x8xf32>
}

// CHECK-LABEL: func.func @compose_broadcasts
// CHECK-NEXT: mtc.broadcast %arg0 axes [0, 1, 3] : tensor<4xf32> -> tensor<2x8x4x3xf32>
func.func @compose_broadcasts(%x: tensor<4xf32>) -> tensor<2x8x4x3xf32> {
  %a = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x4xf32>
  %b = mtc.broadcast %a axes [0, 3] : tensor<8x4xf32> -> tensor<2x8x4x3xf32>
  return %b : tensor<2x8x4x3xf32>
}

// CHECK-LABEL: func.func @broadcast_of_units
// CHECK-NEXT: mtc.reshape %arg0 : tensor<4xf32> -> tensor<1x4x1xf32>
func.func @broadcast_of_units(%x: tensor<4xf32>) -> tensor<1x4x1xf32> {
  %b = mtc.broadcast %x axes [0, 2] : tensor<4xf32> -> tensor<1x4x1xf32>
  return %b : tensor<1x4x1xf32>
}

// CHECK-LABEL: func.func @compose_reshapes
// CHECK-NEXT: mtc.reshape %arg0 : tensor<4x6xf32> -> tensor<3x8xf32>
func.func @compose_reshapes(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %a = mtc.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %b = mtc.reshape %a : tensor<24xf32> -> tensor<3x8xf32>
  return %b : tensor<3x8xf32>
}

// A broadcast includes adjacent axes of extent 1.
// CHECK-LABEL: func.func @unit_axes_of_broadcast
// CHECK-NEXT: mtc.broadcast %arg0 axes [0, 1, 3] : tensor<4xf32> -> tensor<8x1x4x1xf32>
func.func @unit_axes_of_broadcast(%x: tensor<4xf32>) -> tensor<8x1x4x1xf32> {
  %b = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x4xf32>
  %r = mtc.reshape %b : tensor<8x4xf32> -> tensor<8x1x4x1xf32>
  return %r : tensor<8x1x4x1xf32>
}

// CHECK-LABEL: func.func @unit_axes_of_operand
// CHECK-NEXT: %[[R:.*]] = mtc.reshape %arg0 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK-NEXT: mtc.broadcast %[[R]] axes [0] : tensor<4xf32> -> tensor<8x4xf32>
func.func @unit_axes_of_operand(%x: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %b = mtc.broadcast %x axes [0] : tensor<1x4xf32> -> tensor<8x1x4xf32>
  %r = mtc.reshape %b : tensor<8x1x4xf32> -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @split_of_broadcast
// CHECK: mtc.broadcast
// CHECK: mtc.reshape
func.func @split_of_broadcast(%x: tensor<4xf32>) -> tensor<2x4x4xf32> {
  %b = mtc.broadcast %x axes [0] : tensor<4xf32> -> tensor<8x4xf32>
  %r = mtc.reshape %b : tensor<8x4xf32> -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// Elements 1, 3, .. of elements 2, 5, .. are elements 5, 11, ..
// CHECK-LABEL: func.func @compose_slices
// CHECK-NEXT: mtc.slice %arg0 offsets [5] strides [6] : tensor<24xf32> -> tensor<3xf32>
func.func @compose_slices(%x: tensor<24xf32>) -> tensor<3xf32> {
  %a = mtc.slice %x offsets [2] strides [3] : tensor<24xf32> -> tensor<7xf32>
  %b = mtc.slice %a offsets [1] strides [2] : tensor<7xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: func.func @slice_of_concatenate
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<3xf32>, %[[B:[a-z0-9]+]]: tensor<5xf32>
// CHECK-NEXT: mtc.slice %[[B]] offsets [1] strides [2] : tensor<5xf32> -> tensor<2xf32>
func.func @slice_of_concatenate(%a: tensor<3xf32>, %b: tensor<5xf32>) -> tensor<2xf32> {
  %c = mtc.concatenate %a, %b axis 0 : (tensor<3xf32>, tensor<5xf32>) -> tensor<8xf32>
  %s = mtc.slice %c offsets [4] strides [2] : tensor<8xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// CHECK-LABEL: func.func @slice_of_both
// CHECK: mtc.concatenate
// CHECK: mtc.slice
func.func @slice_of_both(%a: tensor<3xf32>, %b: tensor<5xf32>) -> tensor<2xf32> {
  %c = mtc.concatenate %a, %b axis 0 : (tensor<3xf32>, tensor<5xf32>) -> tensor<8xf32>
  %s = mtc.slice %c offsets [2] strides [1] : tensor<8xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

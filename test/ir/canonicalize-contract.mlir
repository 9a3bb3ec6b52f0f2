// RUN: mtc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @operand_transposes
// CHECK-NEXT: mtc.contract %arg0, %arg1 batch [] x [] over [0] x [1] : tensor<8x4xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
func.func @operand_transposes(%a: tensor<8x4xf32>, %b: tensor<5x8xf32>) -> tensor<4x5xf32> {
  %x = mtc.transpose %a [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %y = mtc.transpose %b [1, 0] : tensor<5x8xf32> -> tensor<8x5xf32>
  %r = mtc.contract %x, %y batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// Heads of attention: The operand is [batch, time, heads, width] with the heads moved before the time.
// CHECK-LABEL: func.func @attention_scores
// CHECK-NEXT: mtc.contract %arg0, %arg1 batch [0, 2] x [0, 2] over [3] x [3]
func.func @attention_scores(%q: tensor<2x7x3x4xf32>, %k: tensor<2x7x3x4xf32>) -> tensor<2x3x7x7xf32> {
  %x = mtc.transpose %q [0, 2, 1, 3] : tensor<2x7x3x4xf32> -> tensor<2x3x7x4xf32>
  %y = mtc.transpose %k [0, 2, 3, 1] : tensor<2x7x3x4xf32> -> tensor<2x3x4x7xf32>
  %r = mtc.contract %x, %y batch [0, 1] x [0, 1] over [3] x [2]
         : tensor<2x3x7x4xf32>, tensor<2x3x4x7xf32> -> tensor<2x3x7x7xf32>
  return %r : tensor<2x3x7x7xf32>
}

// A change of order of free axes is not folded.
// CHECK-LABEL: func.func @free_axes_exchanged
// CHECK: mtc.transpose
// CHECK: mtc.contract
func.func @free_axes_exchanged(%a: tensor<3x4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x3x5xf32> {
  %x = mtc.transpose %a [1, 0, 2] : tensor<3x4x8xf32> -> tensor<4x3x8xf32>
  %r = mtc.contract %x, %b batch [] x [] over [2] x [0] : tensor<4x3x8xf32>, tensor<8x5xf32> -> tensor<4x3x5xf32>
  return %r : tensor<4x3x5xf32>
}

// CHECK-LABEL: func.func @batch_broadcast
// CHECK-NEXT: mtc.contract %arg0, %arg1 batch [] x [] over [2] x [0] : tensor<6x4x8xf32>, tensor<8x5xf32> -> tensor<6x4x5xf32>
func.func @batch_broadcast(%a: tensor<6x4x8xf32>, %w: tensor<8x5xf32>) -> tensor<6x4x5xf32> {
  %b = mtc.broadcast %w axes [0] : tensor<8x5xf32> -> tensor<6x8x5xf32>
  %r = mtc.contract %a, %b batch [0] x [0] over [2] x [1] : tensor<6x4x8xf32>, tensor<6x8x5xf32> -> tensor<6x4x5xf32>
  return %r : tensor<6x4x5xf32>
}

// The broadcast batch axis is the first one. As a free axis, it would come after the other batch axis.
// CHECK-LABEL: func.func @first_batch_broadcast
// CHECK: mtc.broadcast
// CHECK: mtc.contract
func.func @first_batch_broadcast(%a: tensor<6x2x4x8xf32>, %w: tensor<2x8x5xf32>) -> tensor<6x2x4x5xf32> {
  %b = mtc.broadcast %w axes [0] : tensor<2x8x5xf32> -> tensor<6x2x8x5xf32>
  %r = mtc.contract %a, %b batch [0, 1] x [0, 1] over [3] x [2]
         : tensor<6x2x4x8xf32>, tensor<6x2x8x5xf32> -> tensor<6x2x4x5xf32>
  return %r : tensor<6x2x4x5xf32>
}

// CHECK-LABEL: func.func @result_transpose
// CHECK-NEXT: mtc.contract %arg1, %arg0 batch [] x [] over [0] x [1] : tensor<8x5xf32>, tensor<4x8xf32> -> tensor<5x4xf32>
func.func @result_transpose(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<5x4xf32> {
  %r = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
  %t = mtc.transpose %r [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  return %t : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @sum_over_batch
// CHECK-NEXT: mtc.contract %arg0, %arg1 batch [] x [] over [0, 1] x [0, 1] : tensor<6x4x8xf32>, tensor<6x4x5xf32> -> tensor<8x5xf32>
func.func @sum_over_batch(%a: tensor<6x4x8xf32>, %b: tensor<6x4x5xf32>) -> tensor<8x5xf32> {
  %r = mtc.contract %a, %b batch [0] x [0] over [1] x [1] : tensor<6x4x8xf32>, tensor<6x4x5xf32> -> tensor<6x8x5xf32>
  %s = mtc.reduce add %r axes [0] : tensor<6x8x5xf32> -> tensor<8x5xf32>
  return %s : tensor<8x5xf32>
}

// CHECK-LABEL: func.func @over_nothing
// CHECK-NEXT: mtc.constant dense<0.000000e+00> : tensor<4x5xf32>
func.func @over_nothing(%a: tensor<4x0xf32>, %b: tensor<0x5xf32>) -> tensor<4x5xf32> {
  %r = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x0xf32>, tensor<0x5xf32> -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

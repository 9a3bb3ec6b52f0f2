// Runs of a value's elements, and values that are assembled of such.
//
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @pieces
// CHECK: mtc.piece %{{.*}} from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK: mtc.assemble %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
func.func @pieces(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = mtc.piece %x from 0 : tensor<4x8xf32> -> tensor<2x8xf32>
  %q = mtc.piece %x from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
  %y = mtc.assemble %q, %p : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Tiles of a value's elements, and values that are assembled from tiles.
//
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @tiles
// CHECK: mtc.tile %{{.*}} from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK: mtc.assemble %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
func.func @tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = mtc.tile %x from 0 : tensor<4x8xf32> -> tensor<2x8xf32>
  %q = mtc.tile %x from 16 : tensor<4x8xf32> -> tensor<2x8xf32>
  %y = mtc.assemble %q, %p : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// What is computed for one assembly is computed where it lies there; what others hold is copied.
//
// RUN: mtc-opt %s --mtc-allocate | FileCheck %s

// CHECK: mtc.arena size [[#SIZE:]]
mtc.variable parameter @w : tensor<16x16xf32> = #mtc.zeros

// CHECK-LABEL: mtc.step @pieces
// CHECK-SAME: outputs [<[[#OUT:]], tensor<64x16xf32>>]
// CHECK: mtc.call {{.*}} -> [<[[#OUT]], tensor<16x16xf32>>]
// CHECK: mtc.call {{.*}} -> [<[[#OUT+2048]], tensor<32x16xf32>>]
// CHECK: mtc.copy <{{.*}}, tensor<16x16xf32>> to <[[#OUT+1024]], tensor<16x16xf32>>
// CHECK-NOT: mtc.copy
func.func @pieces(%x: tensor<64x16xf32> {mtc.name = "x"}) -> (tensor<64x16xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<16x16xf32>
  %p = mtc.piece %x from 0 : tensor<64x16xf32> -> tensor<16x16xf32>
  %q = mtc.piece %x from 512 : tensor<64x16xf32> -> tensor<32x16xf32>
  %a = mtc.contract %p, %w batch [] x [] over [1] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %b = mtc.contract %q, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %y = mtc.assemble %a, %w, %b : tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// A tile of a single assembled value is computed in the memory of that value. Other tiles are copied.
//
// RUN: mtc-opt %s --mtc-allocate | FileCheck %s

mtc.variable parameter @w : tensor<16x16xf32> = #mtc.zeros

// CHECK-LABEL: mtc.step @tiles
// CHECK-SAME: reads ["x"] [#mtc.at<[[#IN:]], tensor<64x16xf32>>]
// CHECK-SAME: gives ["y"] [#mtc.at<[[#OUT:]], tensor<64x16xf32>>]
// CHECK: mtc.call #mtc.contraction<{{.*}}> [#mtc.at<[[#IN]], tensor<16x16xf32>>, #mtc.at<[[#W:]], tensor<16x16xf32>>] into [#mtc.at<[[#OUT]], tensor<16x16xf32>>]
// CHECK: mtc.call #mtc.contraction<{{.*}}> [#mtc.at<[[#IN+2048]], tensor<32x16xf32>>, #mtc.at<[[#W]], tensor<16x16xf32>>] into [#mtc.at<[[#OUT+2048]], tensor<32x16xf32>>]
// CHECK: mtc.copy <[[#W]], tensor<16x16xf32>> into <[[#OUT+1024]], tensor<16x16xf32>>
// CHECK-NOT: mtc.copy
func.func @tiles(%x: tensor<64x16xf32> {mtc.name = "x"}) -> (tensor<64x16xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<16x16xf32>
  %p = mtc.tile %x from 0 : tensor<64x16xf32> -> tensor<16x16xf32>
  %q = mtc.tile %x from 512 : tensor<64x16xf32> -> tensor<32x16xf32>
  %a = mtc.contract %p, %w batch [] x [] over [1] x [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %b = mtc.contract %q, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %y = mtc.assemble %a, %w, %b : tensor<16x16xf32>, tensor<16x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// A tile that is read later than the whole keeps the whole's memory live.
// CHECK-LABEL: mtc.step @late_tile
// CHECK: mtc.call #mtc.contraction<{{.*}} into [#mtc.at<[[#A:]], tensor<32x16xf32>>]
// CHECK: mtc.call #mtc.contraction<{{.*}} into [#mtc.at<[[#A+2048]], tensor<32x16xf32>>]
// CHECK: mtc.call #mtc.contraction<{{.*}}> [#mtc.at<[[#A]], tensor<64x16xf32>>, {{.*}}] into [#mtc.at<[[#OTHER:]], tensor<64x16xf32>>]
// CHECK: mtc.call #mtc.contraction<{{.*}}> [#mtc.at<[[#OTHER]], tensor<64x16xf32>>, {{.*}}] into [#mtc.at<[[#NEXT:]], tensor<64x16xf32>>]
// CHECK: mtc.copy <[[#A]], tensor<32x16xf32>> into <{{.*}}, tensor<32x16xf32>>
// CHECK: mtc.copy <[[#A+2048]], tensor<32x16xf32>> into <{{.*}}, tensor<32x16xf32>>
func.func @late_tile(%x: tensor<64x16xf32> {mtc.name = "x"}) -> (tensor<64x16xf32> {mtc.name = "y"}, tensor<64x16xf32> {mtc.name = "z"}) {
  %w = mtc.read @w : tensor<16x16xf32>
  %p = mtc.tile %x from 0 : tensor<64x16xf32> -> tensor<32x16xf32>
  %q = mtc.tile %x from 512 : tensor<64x16xf32> -> tensor<32x16xf32>
  %a = mtc.contract %p, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %b = mtc.contract %q, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %whole = mtc.assemble %a, %b : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  %c = mtc.contract %whole, %w batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %d = mtc.contract %c, %w batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %again = mtc.assemble %a, %b : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  return %d, %again : tensor<64x16xf32>, tensor<64x16xf32>
}

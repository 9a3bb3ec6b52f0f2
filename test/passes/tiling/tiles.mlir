// Large values are computed in tiles together with their producers and users.
//
// RUN: mtc-opt %s -split-input-file --mlir-print-local-scope --mtc-fit="recompute=none memory=1700000" | FileCheck %s --check-prefix=MIDDLE
// RUN: mtc-opt %s -split-input-file --mlir-print-local-scope --mtc-fit="recompute=none memory=1200000" | FileCheck %s --check-prefix=SUMS
// RUN: mtc-opt %s -split-input-file --mtc-tile=tile=all | FileCheck %s
// RUN: mtc-opt %s -split-input-file --mtc-fit=memory=3000000 | FileCheck %s --check-prefix=WHOLE
// RUN: mtc-opt %s -split-input-file --mtc-tile | FileCheck %s --check-prefix=WHOLE
// RUN: mtc-opt %s -split-input-file --mtc-fit='recompute=none tile=none memory=1' | FileCheck %s --check-prefix=WHOLE
// RUN: not mtc-opt %s --mtc-tile=tile=some 2>&1 | FileCheck %s --check-prefix=CHOICE
// CHOICE: for the --tile option: Cannot find option named 'some'

// WHOLE-NOT: mtc.tile
// WHOLE-NOT: mtc.in_tiles

// The value is between two contractions, and each of its rows affects one row of the result.
// MIDDLE-LABEL: func.func @middle
// MIDDLE-DAG: %[[W:.*]] = mtc.read @w
// MIDDLE-DAG: %[[V:.*]] = mtc.read @v
// MIDDLE: %[[X0:.*]] = mtc.tile %arg0 from 0 : tensor<64x32xf32> -> tensor<32x32xf32>
// MIDDLE-NEXT: %[[Y0:.*]] = mtc.contract %[[X0]], %[[W]] {{.*}} -> tensor<32x4096xf32>
// MIDDLE-NEXT: %[[Z0:.*]] = mtc.contract %[[Y0]], %[[V]] {{.*}} -> tensor<32x32xf32>
// MIDDLE-NEXT: %[[X1:.*]] = mtc.tile %arg0 from 1024
// MIDDLE-NEXT: %[[Y1:.*]] = mtc.contract %[[X1]], %[[W]]
// MIDDLE-NEXT: %[[Z1:.*]] = mtc.contract %[[Y1]], %[[V]]
// MIDDLE-NEXT: %[[Z:.*]] = mtc.assemble %[[Z0]], %[[Z1]] : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<64x32xf32>
// MIDDLE-NEXT: return %[[Z]]
// The remainder is computed as another tile.
// CHECK-LABEL: func.func @middle
// CHECK: mtc.contract {{.*}} -> tensor<8x4096xf32>
mtc.variable parameter @w : tensor<32x4096xf32> = #mtc.zeros
mtc.variable parameter @v : tensor<4096x32xf32> = #mtc.zeros
func.func @middle(%x: tensor<64x32xf32> {mtc.name = "x"}) -> (tensor<64x32xf32> {mtc.name = "z"}) {
  %w = mtc.read @w : tensor<32x4096xf32>
  %v = mtc.read @v : tensor<4096x32xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x4096xf32> -> tensor<64x4096xf32>
  %z = mtc.contract %y, %v batch [] x [] over [1] x [0] : tensor<64x4096xf32>, tensor<4096x32xf32> -> tensor<64x32xf32>
  return %z : tensor<64x32xf32>
}

// -----

// Terms of a sum over rows are accumulated. A kernel between the contractions has tiles of its iteration space, and sums of its own.
// SUMS-LABEL: func.func @sums
// SUMS: %[[Y0:.*]] = mtc.contract {{.*}} -> tensor<32x4096xf32>
// SUMS: %[[K0:.*]]:3 = mtc.kernel [2, 16, 4096] reduce [2](%[[Y0]]) {{.*}} -> (tensor<2x16x4096xf32>, tensor<4096xf32>, tensor<32xf32>)
// SUMS: affine_map<(d0, d1, d2) -> (d0 * 16 + d1, d2)>
// SUMS: %[[D0:.*]] = mtc.reshape %[[K0]]#0
// SUMS: %[[G0:.*]] = mtc.contract %[[D0]], %{{.*}} over [0] x [0] {{.*}} -> tensor<4096x8xf32>
// SUMS: %[[Y1:.*]] = mtc.contract
// SUMS: %[[K1:.*]]:3 = mtc.kernel [2, 16, 4096] reduce [2](%[[Y1]])
// SUMS: %[[S:.*]] = mtc.kernel [4096](%[[K0]]#1, %[[K1]]#1)
// SUMS: arith.addf
// SUMS: %[[D1:.*]] = mtc.reshape %[[K1]]#0
// SUMS: %[[G:.*]] = mtc.fused_contract %[[D1]], %{{.*}} adding %[[G0]]
// SUMS: %[[R:.*]] = mtc.assemble %[[K0]]#2, %[[K1]]#2 : tensor<32xf32>, tensor<32xf32> -> tensor<64xf32>
// SUMS: return %[[G]], %[[S]], %[[R]]
func.func @sums(%x: tensor<64x8xf32> {mtc.name = "x"}, %u: tensor<8x4096xf32> {mtc.name = "u"}, %t: tensor<64x8xf32> {mtc.name = "t"})
    -> (tensor<4096x8xf32> {mtc.name = "g"}, tensor<4096xf32> {mtc.name = "s"}, tensor<64xf32> {mtc.name = "r"}) {
  %y = mtc.contract %x, %u batch [] x [] over [1] x [0] : tensor<64x8xf32>, tensor<8x4096xf32> -> tensor<64x4096xf32>
  %k:3 = mtc.kernel [4, 16, 4096] reduce [2](%y) : (tensor<64x4096xf32>) -> (tensor<4x16x4096xf32>, tensor<4096xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<64x4096xf32>):
    %0 = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0 * 16 + d1, d2)> : tensor<64x4096xf32> -> f32
    %1 = mtc.kernel.reduce max %0 : f32
    %2 = arith.subf %0, %1 : f32
    mtc.kernel.yield %2, %2, %1 at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>,
      affine_map<(d0, d1, d2) -> (d0 * 16 + d1)>] add [1] : f32, f32, f32
  }
  %d = mtc.reshape %k#0 : tensor<4x16x4096xf32> -> tensor<64x4096xf32>
  %g = mtc.contract %d, %t batch [] x [] over [0] x [0] : tensor<64x4096xf32>, tensor<64x8xf32> -> tensor<4096x8xf32>
  return %g, %k#1, %k#2 : tensor<4096x8xf32>, tensor<4096xf32>, tensor<64xf32>
}

// -----

// Arguments, and values that are read along another axis, are not tiled.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: mtc.tile
func.func @whole(%x: tensor<64x32xf32> {mtc.name = "x"}, %w: tensor<32x4096xf32> {mtc.name = "w"})
    -> (tensor<64x4096xf32> {mtc.name = "y"}, tensor<4096xf32> {mtc.name = "z"}) {
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x4096xf32> -> tensor<64x4096xf32>
  %z = mtc.kernel [4096, 64] reduce [1](%y) : (tensor<64x4096xf32>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<64x4096xf32>):
    %0 = mtc.kernel.load %a at affine_map<(d0, d1) -> (d1, d0)> : tensor<64x4096xf32> -> f32
    %1 = mtc.kernel.reduce add %0 : f32
    mtc.kernel.yield %1 at [affine_map<(d0, d1) -> (d0)>] : f32
  }
  return %y, %z : tensor<64x4096xf32>, tensor<4096xf32>
}

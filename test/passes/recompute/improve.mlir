// A plan that meets the budget is improved by changes that save time only together: one recomputation is removed, and others are added. The
// greedy search alone recomputes five values. A plan with a longer update than of interest is an error.
//
// RUN: mtc-opt %s --mtc-fit="memory=115712 tile=none" | FileCheck %s
// RUN: mtc-opt %s --mtc-fit="memory=115712 tile=none" --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=SIZE
// RUN: not mtc-opt %s --mtc-fit="memory=115712 tile=none max-seconds=1e-12" 2>&1 | FileCheck %s --check-prefix=SLOW

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-4: {mtc.recomputed}
// CHECK-NOT: mtc.recomputed
// SIZE: size 114688
// SLOW: error: an update takes {{[0-9.e-]+}} s with {{[0-9]+}} bytes; expected at most 1e-12 s
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @chain(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %v1 = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v2 = mtc.contract %v1, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v3 = mtc.contract %v2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v4 = mtc.contract %v3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v5 = mtc.contract %v4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v6 = mtc.contract %v5, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v7 = mtc.contract %v6, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v8 = mtc.contract %v7, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p7 = mtc.contract %v8, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t7 = mtc.contract %p7, %v7 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p6 = mtc.contract %t7, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t6 = mtc.contract %p6, %v6 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p5 = mtc.contract %t6, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t5 = mtc.contract %p5, %v5 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p4 = mtc.contract %t5, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t4 = mtc.contract %p4, %v4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p3 = mtc.contract %t4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t3 = mtc.contract %p3, %v3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p2 = mtc.contract %t3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t2 = mtc.contract %p2, %v2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p1 = mtc.contract %t2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t1 = mtc.contract %p1, %v1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = mtc.kernel [4, 4](%t1) : (tensor<64x64xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %s : tensor<4x4xf32>
}

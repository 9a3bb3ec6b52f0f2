// With checkpoints, every third of nine layers is saved, and so is the value after the last layer. The other values are recomputed.
//
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=sqrt | FileCheck %s
// RUN: mtc-opt %s -split-input-file --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=BEFORE
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=sqrt --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=AFTER

// CHECK-LABEL: func.func @layers
// CHECK-NOT: mtc.recomputed
// CHECK: %[[H1:.*]] = mtc.contract
// CHECK: %[[H2:.*]] = mtc.contract
// CHECK: %[[H3:.*]] = mtc.contract
// CHECK: %[[H4:.*]] = mtc.contract
// CHECK: %[[H5:.*]] = mtc.contract
// CHECK: %[[H6:.*]] = mtc.contract
// CHECK: %[[H7:.*]] = mtc.contract
// CHECK: %[[H8:.*]] = mtc.contract
// CHECK: %[[H9:.*]] = mtc.contract
// CHECK: %[[L:.*]] = mtc.kernel
// CHECK: %[[G9:.*]] = mtc.contract %[[H9]]
// CHECK-NEXT: %[[G8:.*]] = mtc.contract %[[G9]], %[[H8]]
// CHECK-NEXT: %[[G7:.*]] = mtc.contract %[[G8]], %[[H7]]
// CHECK-NEXT: %[[G6:.*]] = mtc.contract %[[G7]], %[[H6]]
// CHECK-NEXT: %[[A4:.*]] = mtc.contract %[[H3]], %{{.*}} {mtc.recomputed}
// CHECK-NEXT: %[[A5:.*]] = mtc.contract %[[A4]], %{{.*}} {mtc.recomputed}
// CHECK-NEXT: %[[G5:.*]] = mtc.contract %[[G6]], %[[A5]]
// CHECK-NEXT: %[[G4:.*]] = mtc.contract %[[G5]], %[[A4]]
// CHECK-NEXT: %[[G3:.*]] = mtc.contract %[[G4]], %[[H3]]
// CHECK-NEXT: %[[A1:.*]] = mtc.contract %arg0, %{{.*}} {mtc.recomputed}
// CHECK-NEXT: %[[A2:.*]] = mtc.contract %[[A1]], %{{.*}} {mtc.recomputed}
// CHECK-NEXT: %[[G2:.*]] = mtc.contract %[[G3]], %[[A2]]
// CHECK-NEXT: mtc.contract %[[G2]], %[[A1]]
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @layers(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "loss", mtc.differentiated}, tensor<64x64xf32> {mtc.name = "g"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %h1 = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h2 = mtc.contract %h1, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h3 = mtc.contract %h2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h4 = mtc.contract %h3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h5 = mtc.contract %h4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h6 = mtc.contract %h5, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h7 = mtc.contract %h6, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h8 = mtc.contract %h7, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h9 = mtc.contract %h8, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %l = mtc.kernel [4, 4](%h9) : (tensor<64x64xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %g9 = mtc.contract %h9, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g8 = mtc.contract %g9, %h8 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g7 = mtc.contract %g8, %h7 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g6 = mtc.contract %g7, %h6 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g5 = mtc.contract %g6, %h5 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g4 = mtc.contract %g5, %h4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g3 = mtc.contract %g4, %h3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g2 = mtc.contract %g3, %h2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g1 = mtc.contract %g2, %h1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %l, %g1 : tensor<4x4xf32>, tensor<64x64xf32>
}

// -----

// The backward pass uses every other value only. The backward pass does not use the sixth of ten values, a checkpoint, but the next segment
// does.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-5: mtc.contract
// CHECK: %[[H3:.*]] = mtc.contract
// CHECK: mtc.contract %[[H3]], %{{.*}} {mtc.recomputed}
// CHECK-COUNT-3: mtc.recomputed
// CHECK-NOT: mtc.recomputed
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @between(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "loss", mtc.differentiated}, tensor<64x64xf32> {mtc.name = "g"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %a1 = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h1 = mtc.contract %a1, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a2 = mtc.contract %h1, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h2 = mtc.contract %a2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a3 = mtc.contract %h2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h3 = mtc.contract %a3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a4 = mtc.contract %h3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h4 = mtc.contract %a4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a5 = mtc.contract %h4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h5 = mtc.contract %a5, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %l = mtc.kernel [4, 4](%h5) : (tensor<64x64xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %g5 = mtc.contract %h5, %a5 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g4 = mtc.contract %g5, %a4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g3 = mtc.contract %g4, %a3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g2 = mtc.contract %g3, %a2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g1 = mtc.contract %g2, %a1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %l, %g1 : tensor<4x4xf32>, tensor<64x64xf32>
}

// -----

// This function has no backward pass, so nothing is recomputed.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: mtc.recomputed
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @plain(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<64x64xf32> {mtc.name = "g"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %h1 = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h2 = mtc.contract %h1, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h3 = mtc.contract %h2, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h4 = mtc.contract %h3, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %h5 = mtc.contract %h4, %w batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g5 = mtc.contract %h5, %h5 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g4 = mtc.contract %g5, %h4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g3 = mtc.contract %g4, %h3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g2 = mtc.contract %g3, %h2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g1 = mtc.contract %g2, %h1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %g1 : tensor<64x64xf32>
}

// BEFORE: size 196672
// BEFORE-NEXT: size 147520
// BEFORE-NEXT: size 131072
// AFTER: size 131136
// AFTER-NEXT: size 114752
// AFTER-NEXT: size 131072

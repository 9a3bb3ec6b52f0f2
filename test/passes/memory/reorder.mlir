// Operations move to positions with fewer live bytes. Their operands do not change.
//
// RUN: mtc-opt %s -split-input-file --mtc-reorder | FileCheck %s
// RUN: mtc-opt %s -split-input-file --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=TEXT
// RUN: mtc-opt %s -split-input-file --mtc-reorder --mtc-allocate | grep -o "mtc.arena size [0-9]*" | FileCheck %s --check-prefix=MOVED

// TEXT: size 52224
// TEXT-NEXT: size 51200
// TEXT-NEXT: size 52224
// MOVED: size 35840
// MOVED-NEXT: size 50240
// MOVED-NEXT: size 35840

// A contraction of 16 KiB is computed before a large temporary, but used only at the end. It moves to the end with its user and the write,
// although the write replaces an operand of an operation between the two positions.
// CHECK-LABEL: func.func @later
// CHECK-NEXT: %[[W:.*]] = mtc.read @w
// CHECK-NEXT: mtc.contract %arg0, %[[W]]
// CHECK: %[[Y:.*]] = mtc.contract {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[G:.*]] = mtc.contract %arg0, %arg0
// CHECK-NEXT: %[[N:.*]] = mtc.kernel {{.*}}(%[[W]], %[[G]])
// CHECK: mtc.write @w, %[[N]]
// CHECK-NEXT: return %[[Y]]
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @later(%d: tensor<4x64xf32> {mtc.name = "d"}) -> (tensor<4x4xf32> {mtc.name = "y"}) {
  %w = mtc.read @w : tensor<64x64xf32>
  %g = mtc.contract %d, %d batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %e = mtc.contract %d, %w batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %large = mtc.contract %e, %d batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %small = mtc.contract %e, %large batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %y = mtc.contract %small, %small batch [] x [] over [1] x [1] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x4xf32>
  %s = mtc.kernel [64, 64](%w, %g) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>):
    %a = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %b = mtc.kernel.load %q at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %n = arith.subf %a, %b : f32
    mtc.kernel.yield %n at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  mtc.write @w, %s : tensor<64x64xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The last user of a large value, and the user of its result, run before another large value is computed, which leaves fewer live bytes.
// CHECK-LABEL: func.func @earlier
// CHECK-NEXT: %[[FIRST:.*]] = mtc.contract %arg0, %arg0
// CHECK-NEXT: mtc.contract %arg0, %[[FIRST]]
// CHECK-NEXT: mtc.contract {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: mtc.contract %[[FIRST]], %[[FIRST]]
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @earlier(%d: tensor<4x64xf32> {mtc.name = "d"}) -> (tensor<4x4xf32> {mtc.name = "y"}, tensor<4x4xf32> {mtc.name = "z"}) {
  %first = mtc.contract %d, %d batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %second = mtc.contract %first, %first batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %small = mtc.contract %d, %second batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %small, %small batch [] x [] over [1] x [1] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x4xf32>
  %other = mtc.contract %d, %first batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %y = mtc.contract %other, %other batch [] x [] over [1] x [1] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x4xf32>
  return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A read of a variable must precede the write, so the contraction does not move down; its user moves up.
// CHECK-LABEL: func.func @hazard
// CHECK-NEXT: %[[V:.*]] = mtc.read @v
// CHECK-NEXT: %[[G:.*]] = mtc.contract %arg0, %[[V]]
// CHECK: %[[S:.*]] = mtc.kernel {{.*}}(%{{.*}}, %[[G]])
// CHECK: mtc.write @v
// CHECK: mtc.contract
mtc.variable parameter @v : tensor<4x64xf32> = #mtc.zeros
mtc.variable parameter @w : tensor<64x64xf32> = #mtc.zeros
func.func @hazard(%d: tensor<4x64xf32> {mtc.name = "d"}) -> (tensor<4x4xf32> {mtc.name = "y"}) {
  %v = mtc.read @v : tensor<4x64xf32>
  %w = mtc.read @w : tensor<64x64xf32>
  %g = mtc.contract %d, %v batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %n = mtc.contract %d, %d batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %m = mtc.contract %d, %n batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  mtc.write @v, %m : tensor<4x64xf32>
  %a = mtc.contract %m, %d batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %b = mtc.contract %d, %a batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %y = mtc.contract %b, %b batch [] x [] over [1] x [1] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<4x4xf32>
  %s = mtc.kernel [64, 64](%w, %g) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>):
    %e = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %f = mtc.kernel.load %q at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    %h = arith.subf %e, %f : f32
    mtc.kernel.yield %h at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  mtc.write @w, %s : tensor<64x64xf32>
  return %y : tensor<4x4xf32>
}

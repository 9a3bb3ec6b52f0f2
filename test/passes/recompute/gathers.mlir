// A recomputation uses the gathered parameter of the backward pass, whose gather moves up, so that no gathered value is live between the
// passes. Gathers do not join segments.
//
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=all | FileCheck %s
// RUN: mtc-opt %s -split-input-file --mtc-recompute=recompute=sqrt | FileCheck %s --check-prefix=SQRT

// SQRT-LABEL: func.func @later_gather
// SQRT-NOT: mtc.recomputed

// CHECK-LABEL: func.func @later_gather
// CHECK: %[[EARLY:.*]] = mtc.all_gather
// CHECK: mtc.contract %arg0, %[[EARLY]]
// CHECK-NOT: %[[EARLY]]
// CHECK: %[[PIECE:.*]] = mtc.read @w
// CHECK-NEXT: %[[LATE:.*]] = mtc.all_gather %[[PIECE]]
// CHECK-NEXT: %[[AGAIN:.*]] = mtc.contract %arg0, %[[LATE]] {{.*}} {mtc.recomputed}
// CHECK-NEXT: mtc.contract %{{.*}}, %[[AGAIN]]
// CHECK-NOT: mtc.all_gather
// CHECK: mtc.contract %{{.*}}, %[[LATE]]
mtc.variable parameter @w : tensor<256xf32> piece of tensor<8x64xf32> = #mtc.zeros
func.func @later_gather(%x: tensor<8x64xf32> {mtc.name = "x"}) -> (tensor<8x64xf32> {mtc.name = "z"}, tensor<64x64xf32> {mtc.name = "g"}) {
  %piece = mtc.read @w : tensor<256xf32>
  %w = mtc.all_gather %piece ranks 2 : tensor<256xf32> -> tensor<8x64xf32>
  %h = mtc.contract %x, %w batch [] x [] over [0] x [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %s = mtc.contract %h, %h batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t = mtc.contract %s, %x batch [] x [] over [0] x [1] : tensor<64x64xf32>, tensor<8x64xf32> -> tensor<64x8xf32>
  %large = mtc.contract %t, %x batch [] x [] over [1] x [0] : tensor<64x8xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %x, %larger batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %z = mtc.contract %y, %h batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %piece_again = mtc.read @w : tensor<256xf32>
  %w_again = mtc.all_gather %piece_again ranks 2 : tensor<256xf32> -> tensor<8x64xf32>
  %g = mtc.contract %z, %w_again batch [] x [] over [0] x [0] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<64x64xf32>
  return %z, %g : tensor<8x64xf32>, tensor<64x64xf32>
}

// -----

// Each layer's parameter is gathered for each pass. All paths still pass through the ends of layers.
// SQRT-LABEL: func.func @layers
// SQRT-COUNT-7: mtc.all_gather
// SQRT: %[[W3:.*]] = mtc.all_gather
// SQRT-NEXT: mtc.contract %{{.*}}, %[[W3]] {{.*}} {mtc.recomputed}
// SQRT: mtc.all_gather
// SQRT: %[[W1:.*]] = mtc.all_gather
// SQRT-NEXT: mtc.contract %arg0, %[[W1]] {{.*}} {mtc.recomputed}
// SQRT-NOT: mtc.all_gather
mtc.variable parameter @w1 : tensor<2048xf32> piece of tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @w2 : tensor<2048xf32> piece of tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @w3 : tensor<2048xf32> piece of tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @w4 : tensor<2048xf32> piece of tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @w5 : tensor<2048xf32> piece of tensor<64x64xf32> = #mtc.zeros
func.func @layers(%x: tensor<64x64xf32> {mtc.name = "x"}) -> (tensor<4x4xf32> {mtc.name = "loss", mtc.differentiated}, tensor<64x64xf32> {mtc.name = "g"}) {
  %p1 = mtc.read @w1 : tensor<2048xf32>
  %w1 = mtc.all_gather %p1 ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %h1 = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p2 = mtc.read @w2 : tensor<2048xf32>
  %w2 = mtc.all_gather %p2 ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %h2 = mtc.contract %h1, %w2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p3 = mtc.read @w3 : tensor<2048xf32>
  %w3 = mtc.all_gather %p3 ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %h3 = mtc.contract %h2, %w3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p4 = mtc.read @w4 : tensor<2048xf32>
  %w4 = mtc.all_gather %p4 ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %h4 = mtc.contract %h3, %w4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p5 = mtc.read @w5 : tensor<2048xf32>
  %w5 = mtc.all_gather %p5 ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %h5 = mtc.contract %h4, %w5 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %l = mtc.kernel [4, 4](%h5) : (tensor<64x64xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x64xf32> -> f32
    mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  %p5b = mtc.read @w5 : tensor<2048xf32>
  %w5b = mtc.all_gather %p5b ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %d5 = mtc.contract %h5, %w5b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g5 = mtc.contract %d5, %h4 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p4b = mtc.read @w4 : tensor<2048xf32>
  %w4b = mtc.all_gather %p4b ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %d4 = mtc.contract %g5, %w4b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g4 = mtc.contract %d4, %h3 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p3b = mtc.read @w3 : tensor<2048xf32>
  %w3b = mtc.all_gather %p3b ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %d3 = mtc.contract %g4, %w3b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g3 = mtc.contract %d3, %h2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p2b = mtc.read @w2 : tensor<2048xf32>
  %w2b = mtc.all_gather %p2b ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %d2 = mtc.contract %g3, %w2b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g2 = mtc.contract %d2, %h1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p1b = mtc.read @w1 : tensor<2048xf32>
  %w1b = mtc.all_gather %p1b ranks 2 : tensor<2048xf32> -> tensor<64x64xf32>
  %d1 = mtc.contract %g2, %w1b batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g1 = mtc.contract %d1, %x batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %l, %g1 : tensor<4x4xf32>, tensor<64x64xf32>
}

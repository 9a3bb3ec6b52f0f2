// RUN: mtc-opt %s -split-input-file -mtc-tile-exchanges=tiles=2 | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-tile-exchanges | FileCheck %s --check-prefix=CHOSEN

module attributes {mtc.target = #mtc_cpu.target<threads = 1, rates = "avx2">} {
  mtc.program "tiles" stage training ranks <count = 2, tensor = 2, network = "10us,200MB/s"> {}
  // Each tile has 16 rows of the piece of each of the two ranks. The sums of the received rows are concatenated.
  // CHECK-LABEL: func.func @scatter
  // CHECK: mtc.slice %{{.*}} offsets [0, 0, 0] strides [1, 1, 1] : tensor<2x2x512xf32> -> tensor<2x1x512xf32>
  // CHECK: mtc.contract {{.*}} : tensor<32x32xf32>, tensor<32x16xf32> -> tensor<32x16xf32>
  // CHECK: %[[FIRST:.*]] = mtc.all_to_all %{{.*}} pieces [256] {mtc.addends} : tensor<512xf32> -> tensor<2x256xf32>
  // CHECK: mtc.slice %{{.*}} offsets [0, 1, 0] strides [1, 1, 1] : tensor<2x2x512xf32> -> tensor<2x1x512xf32>
  // CHECK: mtc.contract {{.*}} : tensor<32x32xf32>, tensor<32x16xf32> -> tensor<32x16xf32>
  // CHECK: %[[SECOND:.*]] = mtc.all_to_all %{{.*}} pieces [256] {mtc.addends} : tensor<512xf32> -> tensor<2x256xf32>
  // CHECK: mtc.slice %[[FIRST]] offsets [
  // CHECK: %[[A:.*]] = mtc.add %{{.*}} : tensor<256xf32>
  // CHECK: mtc.slice %[[SECOND]] offsets [
  // CHECK: %[[B:.*]] = mtc.add %{{.*}} : tensor<256xf32>
  // CHECK: mtc.concatenate %[[A]], %[[B]] axis 0 : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
  // CHECK-NOT: mtc.all_to_all
  // With this small contraction, latencies exceed what tiles hide.
  // CHOSEN-LABEL: func.func @scatter
  // CHOSEN: mtc.all_to_all %{{.*}} pieces [512]
  func.func @scatter(%x: tensor<64x32xf32> {mtc.name = "x"}, %w: tensor<32x16xf32> {mtc.name = "w"}) -> (tensor<512xf32> {mtc.name = "y"}) {
    %c = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
    %rows = mtc.all_to_all %c pieces [512] {mtc.addends} : tensor<64x16xf32> -> tensor<2x512xf32>
    %s0 = mtc.slice %rows offsets [0, 0] strides [1, 1] : tensor<2x512xf32> -> tensor<1x512xf32>
    %r0 = mtc.reshape %s0 : tensor<1x512xf32> -> tensor<512xf32>
    %s1 = mtc.slice %rows offsets [1, 0] strides [1, 1] : tensor<2x512xf32> -> tensor<1x512xf32>
    %r1 = mtc.reshape %s1 : tensor<1x512xf32> -> tensor<512xf32>
    %y = mtc.add %r0, %r1 : tensor<512xf32>
    return %y : tensor<512xf32>
  }

  // Both contractions read the tiles. Their results have the rows of both ranks in turn.
  // CHECK-LABEL: func.func @gather
  // CHECK: %[[P0:.*]] = mtc.tile %arg0 from 0 : tensor<1024xf32> -> tensor<512xf32>
  // CHECK: %[[G0:.*]] = mtc.all_gather %[[P0]] ranks 2 : tensor<512xf32> -> tensor<2x512xf32>
  // CHECK: %[[P1:.*]] = mtc.tile %arg0 from 512 : tensor<1024xf32> -> tensor<512xf32>
  // CHECK: %[[G1:.*]] = mtc.all_gather %[[P1]] ranks 2 : tensor<512xf32> -> tensor<2x512xf32>
  // CHECK: %[[C0:.*]] = mtc.contract {{.*}} : tensor<32x32xf32>, tensor<32x16xf32> -> tensor<32x16xf32>
  // CHECK: %[[T0:.*]] = mtc.reshape %[[C0]] : tensor<32x16xf32> -> tensor<2x256xf32>
  // CHECK: %[[C1:.*]] = mtc.contract {{.*}} : tensor<32x32xf32>, tensor<32x16xf32> -> tensor<32x16xf32>
  // CHECK: %[[T1:.*]] = mtc.reshape %[[C1]] : tensor<32x16xf32> -> tensor<2x256xf32>
  // CHECK: %[[ALL:.*]] = mtc.concatenate %[[T0]], %[[T1]] axis 1 : (tensor<2x256xf32>, tensor<2x256xf32>) -> tensor<2x512xf32>
  // CHECK: mtc.reshape %[[ALL]] : tensor<2x512xf32> -> tensor<64x16xf32>
  // CHECK-COUNT-2: mtc.contract {{.*}} : tensor<32x32xf32>, tensor<32x8xf32> -> tensor<32x8xf32>
  func.func @gather(%p: tensor<1024xf32> {mtc.name = "p"}, %w: tensor<32x16xf32> {mtc.name = "w"}, %v: tensor<32x8xf32> {mtc.name = "v"})
      -> (tensor<64x16xf32> {mtc.name = "y"}, tensor<64x8xf32> {mtc.name = "z"}) {
    %g = mtc.all_gather %p ranks 2 : tensor<1024xf32> -> tensor<2x1x1024xf32>
    %x = mtc.reshape %g : tensor<2x1x1024xf32> -> tensor<64x32xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
    %z = mtc.contract %x, %v batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x8xf32> -> tensor<64x8xf32>
    return %y, %z : tensor<64x16xf32>, tensor<64x8xf32>
  }

  // The gradient of weights sums over the rows: it needs the whole value.
  // CHECK-LABEL: func.func @whole
  // CHECK: mtc.all_gather %arg0 ranks 2 : tensor<1024xf32> -> tensor<64x32xf32>
  // CHECK-NEXT: mtc.contract
  // CHECK-NEXT: mtc.contract
  func.func @whole(%p: tensor<1024xf32> {mtc.name = "p"}, %w: tensor<32x16xf32> {mtc.name = "w"}, %d: tensor<64x8xf32> {mtc.name = "d"})
      -> (tensor<64x16xf32> {mtc.name = "y"}, tensor<32x8xf32> {mtc.name = "dw"}) {
    %x = mtc.all_gather %p ranks 2 : tensor<1024xf32> -> tensor<64x32xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
    %dw = mtc.contract %x, %d batch [] x [] over [0] x [0] : tensor<64x32xf32>, tensor<64x8xf32> -> tensor<32x8xf32>
    return %y, %dw : tensor<64x16xf32>, tensor<32x8xf32>
  }

  // The cost model chooses 4 tiles: the contraction takes longer than the exchange.
  // CHOSEN-LABEL: func.func @large
  // CHOSEN-COUNT-4: mtc.all_gather %{{.*}} ranks 2 : tensor<131072xf32> -> tensor<2x131072xf32>
  // CHOSEN-NOT: mtc.all_gather
  func.func @large(%p: tensor<524288xf32> {mtc.name = "p"}, %w: tensor<1024x1024xf32> {mtc.name = "w"}) -> (tensor<1024x1024xf32> {mtc.name = "y"}) {
    %x = mtc.all_gather %p ranks 2 : tensor<524288xf32> -> tensor<1024x1024xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    return %y : tensor<1024x1024xf32>
  }
}

// -----

// Transfers by shared memory make no progress while ranks compute.
module attributes {mtc.target = #mtc_cpu.target<threads = 1, rates = "avx2">} {
  mtc.program "shared" stage training ranks <count = 2, tensor = 2, network = "shm"> {}
  // CHOSEN-LABEL: func.func @large
  // CHOSEN: mtc.all_gather %arg0 ranks 2 : tensor<524288xf32> -> tensor<1024x1024xf32>
  func.func @large(%p: tensor<524288xf32> {mtc.name = "p"}, %w: tensor<1024x1024xf32> {mtc.name = "w"}) -> (tensor<1024x1024xf32> {mtc.name = "y"}) {
    %x = mtc.all_gather %p ranks 2 : tensor<524288xf32> -> tensor<1024x1024xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    return %y : tensor<1024x1024xf32>
  }
}

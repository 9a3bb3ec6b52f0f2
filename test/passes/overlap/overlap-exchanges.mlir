// RUN: mtc-opt %s -split-input-file -mtc-overlap-exchanges=memory=4000000 | FileCheck %s
// RUN: mtc-opt %s -split-input-file -mtc-overlap-exchanges | FileCheck %s --check-prefix=SAME

// The gradient of the weights is computed while the gradient of the input is exchanged, whose memory is held meanwhile. Without a
// budget, the pass does not enlarge the arena, and the order stays the same.
module attributes {mtc.target = #mtc_cpu.target<threads = 1, rates = "avx2">} {
  // SAME-LABEL: mtc.program "backward"
  // SAME: mtc.all_to_all
  // SAME-NEXT: mtc.kernel
  // SAME-NOT: mtc.hold
  mtc.program "backward" stage kernels ranks <count = 2, tensor = 2, network = "10us,1GB/s"> {}
  // CHECK-LABEL: func.func @micro_step
  // CHECK: %[[DX:.*]] = mtc.contract %arg1, %arg2
  // CHECK-NEXT: %[[ROWS:.*]] = mtc.all_to_all %[[DX]]
  // CHECK-NEXT: mtc.contract %arg0, %arg1
  // CHECK-NEXT: mtc.hold %[[DX]]
  // CHECK-NEXT: mtc.kernel [32768](%[[ROWS]])
  func.func @micro_step(%x: tensor<256x256xf32> {mtc.name = "x"}, %dy: tensor<256x256xf32> {mtc.name = "dy"}, %w: tensor<256x256xf32> {mtc.name = "w"})
      -> (tensor<32768xf32> {mtc.name = "sum"}, tensor<256x256xf32> {mtc.name = "dw"}) {
    %dx = mtc.contract %dy, %w batch [] x [] over [1] x [1] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %rows = mtc.all_to_all %dx pieces [32768] : tensor<256x256xf32> -> tensor<2x32768xf32>
    %sum = mtc.kernel [32768](%rows) : (tensor<2x32768xf32>) -> tensor<32768xf32> {
    ^bb0(%r: tensor<2x32768xf32>):
      %a = mtc.kernel.load %r at affine_map<(d0) -> (0, d0)> : tensor<2x32768xf32> -> f32
      %b = mtc.kernel.load %r at affine_map<(d0) -> (1, d0)> : tensor<2x32768xf32> -> f32
      %s = arith.addf %a, %b : f32
      mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
    }
    %dw = mtc.contract %x, %dy batch [] x [] over [0] x [0] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    return %sum, %dw : tensor<32768xf32>, tensor<256x256xf32>
  }
}

// -----

// The gradient of the weights precedes that of the input: it is computed later. A gather of a known value starts early.
module attributes {mtc.target = #mtc_cpu.target<threads = 1, rates = "avx2">} {
  mtc.program "order" stage kernels ranks <count = 2, tensor = 2, network = "10us,1GB/s"> {}
  // CHECK-LABEL: func.func @micro_step
  // CHECK: %[[DX:.*]] = mtc.contract %arg1, %arg2
  // CHECK-NEXT: %[[ROWS:.*]] = mtc.all_to_all %[[DX]]
  // CHECK-NEXT: %[[WHOLE:.*]] = mtc.all_gather %arg3
  // CHECK-NEXT: mtc.contract %arg0, %arg1
  // CHECK-NEXT: mtc.hold %[[DX]]
  // CHECK-NEXT: mtc.kernel [32768](%[[ROWS]])
  // CHECK: mtc.contract %[[WHOLE]], %arg2
  func.func @micro_step(%x: tensor<256x256xf32> {mtc.name = "x"}, %dy: tensor<256x256xf32> {mtc.name = "dy"}, %w: tensor<256x256xf32> {mtc.name = "w"},
      %p: tensor<32768xf32> {mtc.name = "p"})
      -> (tensor<32768xf32> {mtc.name = "sum"}, tensor<256x256xf32> {mtc.name = "dw"}, tensor<256x256xf32> {mtc.name = "y"}) {
    %dw = mtc.contract %x, %dy batch [] x [] over [0] x [0] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %dx = mtc.contract %dy, %w batch [] x [] over [1] x [1] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %rows = mtc.all_to_all %dx pieces [32768] : tensor<256x256xf32> -> tensor<2x32768xf32>
    %sum = mtc.kernel [32768](%rows) : (tensor<2x32768xf32>) -> tensor<32768xf32> {
    ^bb0(%r: tensor<2x32768xf32>):
      %a = mtc.kernel.load %r at affine_map<(d0) -> (0, d0)> : tensor<2x32768xf32> -> f32
      %b = mtc.kernel.load %r at affine_map<(d0) -> (1, d0)> : tensor<2x32768xf32> -> f32
      %s = arith.addf %a, %b : f32
      mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
    }
    %whole = mtc.all_gather %p ranks 2 : tensor<32768xf32> -> tensor<256x256xf32>
    %y = mtc.contract %whole, %w batch [] x [] over [1] x [0] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    return %sum, %dw, %y : tensor<32768xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  }
}

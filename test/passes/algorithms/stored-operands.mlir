// If the scratch memory of an algorithm does not fit, the call at the peak reads its operands as stored. Other calls keep their algorithms.
//
// RUN: mtc-opt %s --mtc-fit="memory=1500000 tile=none recompute=none" | FileCheck %s --check-prefixes=CHECK,TIGHT
// RUN: mtc-opt %s --mtc-fit="memory=4000000 tile=none recompute=none" | FileCheck %s --check-prefixes=CHECK,AMPLE
// RUN: mtc-opt %s --mtc-fit="memory=1500000 tile=none recompute=none" --mtc-allocate | FileCheck %s --check-prefix=PLAN

// CHECK-LABEL: func.func @chain
// CHECK: mtc.contract {{.*}}mtc.algorithm = {{.*}} tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK: mtc.contract {{.*}}mtc.algorithm = {{.*}} tensor<256x256xf32> -> tensor<256x256xf32>
// TIGHT-NOT: mtc.algorithm
// AMPLE: mtc.contract {{.*}}mtc.algorithm = {{.*}} tensor<256x256xf32> -> tensor<256x256xf32>
// PLAN: mtc.techniques = ["stored-operands"]
// PLAN: mtc.arena size 1360512
// PLAN-COUNT-2: algorithm = packed_rhs
// PLAN-NOT: algorithm =
module attributes {mtc.target = #mtc_cpu.target<threads = 1>} {
  mtc.variable parameter @w : tensor<256x256xf32> = #mtc.zeros
  func.func @chain(%x: tensor<256x256xf32> {mtc.name = "x"}, %a: tensor<64x64xf32> {mtc.name = "a"}) -> (tensor<4x4xf32> {mtc.name = "y"}, tensor<64x64xf32> {mtc.name = "z"}) {
    %w = mtc.read @w : tensor<256x256xf32>
    %v0 = mtc.contract %a, %a batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm packed_rhs>} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %v1 = mtc.contract %x, %w batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm packed_rhs>} : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %v2 = mtc.contract %v1, %w batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm packed_rhs>} : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %s = mtc.kernel [4, 4](%v2) : (tensor<256x256xf32>) -> tensor<4x4xf32> {
    ^bb0(%p: tensor<256x256xf32>):
      %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<256x256xf32> -> f32
      mtc.kernel.yield %v at [affine_map<(d0, d1) -> (d0, d1)>] : f32
    }
    return %s, %v0 : tensor<4x4xf32>, tensor<64x64xf32>
  }
}

// The recorded speedup determines whether the call reads its operands as stored or a value is recomputed.
//
// RUN: mtc-opt %s --mtc-fit="memory=1600000 tile=none recompute=auto" | FileCheck %s --check-prefix=SLIGHT
// RUN: sed -e 's/1.010000e+00/9.0/' %s | mtc-opt --mtc-fit="memory=1600000 tile=none recompute=auto" | FileCheck %s --check-prefix=LARGE

// SLIGHT-NOT: {{mtc.algorithm|mtc.recomputed}}
// LARGE: mtc.algorithm = #mtc<call_algorithm packed_rhs, speedup = 9.000000e+00 : f64>
// LARGE: = mtc.kernel [256, 256]{{.*}}mtc.recomputed
module attributes {mtc.target = #mtc_cpu.target<threads = 1, rates = "avx2">} {
  mtc.variable parameter @w : tensor<256x256xf32> = #mtc.zeros
  func.func @chain(%x: tensor<256x256xf32> {mtc.name = "x"}) -> (tensor<256x256xf32> {mtc.name = "y"}) {
    %w = mtc.read @w : tensor<256x256xf32>
    %a = mtc.kernel [256, 256](%x) : (tensor<256x256xf32>) -> tensor<256x256xf32> {
    ^bb0(%p: tensor<256x256xf32>):
      %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<256x256xf32> -> f32
      %e = arith.addf %v, %v : f32
      mtc.kernel.yield %e at [affine_map<(d0, d1) -> (d0, d1)>] : f32
    }
    %v1 = mtc.contract %a, %w batch [] x [] over [1] x [0] : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %v2 = mtc.contract %v1, %w batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm packed_rhs, speedup = 1.010000e+00 : f64>} : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    %s = mtc.kernel [256, 256](%v2, %a) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> {
    ^bb0(%p: tensor<256x256xf32>, %q: tensor<256x256xf32>):
      %v = mtc.kernel.load %p at affine_map<(d0, d1) -> (d0, d1)> : tensor<256x256xf32> -> f32
      %u = mtc.kernel.load %q at affine_map<(d0, d1) -> (d0, d1)> : tensor<256x256xf32> -> f32
      %e = arith.addf %v, %u : f32
      mtc.kernel.yield %e at [affine_map<(d0, d1) -> (d0, d1)>] : f32
    }
    return %s : tensor<256x256xf32>
  }
}

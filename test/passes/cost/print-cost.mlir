// RUN: mtc-opt %s --mtc-print-cost -o /dev/null 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
// RUN: mtc-opt %s --mtc-prepare-calls --mtc-allocate --mtc-print-cost -o /dev/null 2>&1 | FileCheck %s --match-full-lines --strict-whitespace

// The estimates for an allocated module equal those for its kernels and calls. The time of a small call is its overhead, and the time of a
// large contraction is that of its operations. The time of a kernel is the maximum of the times for its memory accesses and its
// exponentials.
//CHECK:micro_step	contraction	5.516e-03	2147483648	12582912	
//CHECK-NEXT:micro_step	kernel	1.228e-04	2097152	8388608	
//CHECK-NEXT:update	kernel	5.001e-07	4	32	
//CHECK-NEXT:step		5.639e-03	2149580804	20971552	at rates of processors with AVX-512, not measured
module attributes {mtc.target = #mtc_cpu.target<threads = 4, rates = "avx512">} {
  mtc.variable parameter @w : tensor<1024x1024xf32> = #mtc.zeros
  func.func @micro_step(%x: tensor<1024x1024xf32> {mtc.name = "x"}) -> (tensor<1024x1024xf32> {mtc.name = "y"}) {
    %w = mtc.read @w : tensor<1024x1024xf32>
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    %e = mtc.kernel [1024, 1024](%p) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    ^bb0(%a: tensor<1024x1024xf32>):
      %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x1024xf32> -> f32
      %u = math.exp %v : f32
      %t = math.tanh %u : f32
      mtc.kernel.yield %t at [affine_map<(d0, d1) -> (d0, d1)>] : f32
    }
    return %e : tensor<1024x1024xf32>
  }
  func.func @update(%rate: tensor<4xf32> {mtc.name = "rate"}) -> (tensor<4xf32> {mtc.name = "rates"}) {
    %r = mtc.kernel [4](%rate) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
      %n = arith.negf %v : f32
      mtc.kernel.yield %n at [affine_map<(d0) -> (d0)>] : f32
    }
    return %r : tensor<4xf32>
  }
}

// The time of a scan is the sum of the times of its iterations, before and after the body is allocated.
// RUN: mtc-opt %s --mtc-print-cost -o /dev/null 2>&1 | FileCheck %s
// RUN: mtc-opt %s --mtc-allocate --mtc-print-cost -o /dev/null 2>&1 | FileCheck %s

// CHECK: micro_step scan 5.001e-04 4000 32000
module attributes {mtc.target = #mtc_cpu.target<threads = 4, rates = "avx512">} {
  func.func private @cell(%h: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 0>} {
    %r = mtc.kernel [4](%h) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
      %n = arith.negf %v : f32
      mtc.kernel.yield %n at [affine_map<(d0) -> (d0)>] : f32
    }
    return %r : tensor<4xf32>
  }
  func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<4xf32> {mtc.name = "y"}) {
    %y = mtc.scan @cell 1000 times from(%x) over() with() : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

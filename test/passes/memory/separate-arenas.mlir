// RUN: mtc-opt %s -mtc-allocate | FileCheck %s

// A run with --gradients keeps two results, and a run with --outputs one, which needs less memory.
// CHECK: mtc.arena size [[SIZE:[0-9]+]]
// CHECK-SAME: outputs = 4160 : i64
// CHECK-SAME: separate = 8256 : i64
func.func @micro_step(%x: tensor<16xf32>) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}
func.func @gradients() -> (tensor<1024xf32>, tensor<1024xf32>) attributes {mtc.separate_arena} {
  %a = mtc.kernel [1024] () : () -> tensor<1024xf32> {
    %one = arith.constant 1.0 : f32
    mtc.kernel.yield %one at [affine_map<(d0) -> (d0)>] : f32
  }
  %b = mtc.kernel [1024] () : () -> tensor<1024xf32> {
    %two = arith.constant 2.0 : f32
    mtc.kernel.yield %two at [affine_map<(d0) -> (d0)>] : f32
  }
  return %a, %b : tensor<1024xf32>, tensor<1024xf32>
}
func.func @outputs() -> tensor<1024xf32> attributes {mtc.separate_arena} {
  %a = mtc.kernel [1024] () : () -> tensor<1024xf32> {
    %one = arith.constant 1.0 : f32
    mtc.kernel.yield %one at [affine_map<(d0) -> (d0)>] : f32
  }
  return %a : tensor<1024xf32>
}

// Vectors cover the row: a vector of partial sums is accumulated over the row, and combined at its end.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --implicit-check-not=gather

// CHECK-LABEL: @mtc_kernel.sum
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = {{.*}}) -> ([[V:vector<(16|32|64)xf32>]])
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> [[V]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[X]] : [[V]]
// CHECK: scf.yield %[[NEW]]
// CHECK: vector.extract_strided_slice %[[SUMS]]
// CHECK: %[[SUM:.*]] = vector.extract {{.*}} : f32
// CHECK: llvm.store %[[SUM]], {{.*}} : f32
// CHECK-NOT: scf.for
// CHECK: llvm.return
mtc.kernel_function @sum [64, 768] reduce [1] -> [tensor<64xf32>] {
^body(%a: tensor<64x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
}

// Reductions of one level share a loop.
// CHECK-LABEL: @mtc_kernel.both
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> ([[V:vector<(16|32|64)xf32>]], [[V]])
// CHECK-COUNT-1: llvm.load {{.*}} -> [[V]]
// CHECK-NOT: llvm.load {{.*}} -> [[V]]
// CHECK: llvm.return
mtc.kernel_function @both [64, 768] reduce [1] -> [tensor<64xf32>, tensor<64xf32>] {
^body(%a: tensor<64x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %m = mtc.kernel.reduce max %x : f32
  mtc.kernel.yield %s, %m at [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>] : f32, f32
}

// A value that is computed once per row, after the reduction, does not affect vectorization.
// CHECK-LABEL: @mtc_kernel.root
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: math.sqrt {{.*}} : f64
mtc.kernel_function @root [64, 768] reduce [1] -> [tensor<64xf64>] {
^body(%a: tensor<64x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  %w = arith.extf %s : f32 to f64
  %r = math.sqrt %w : f64
  mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d0)>] : f64
}

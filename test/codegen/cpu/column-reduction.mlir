// Vectors cover columns: each lane accumulates one column over the rows, and vectors of sums are stored.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --implicit-check-not=gather

// CHECK-LABEL: @mtc_kernel.sum
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = {{.*}}) -> ([[V:vector<(16|32|64)xf32>]])
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> [[V]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[X]] : [[V]]
// CHECK: scf.yield %[[NEW]]
// CHECK-NOT: vector.extract
// CHECK: llvm.store %[[SUMS]], {{.*}} : [[V]], !llvm.ptr
// CHECK-NOT: scf.for
// CHECK: llvm.return
mtc.kernel_function @sum [64, 768] reduce [0] -> [tensor<768xf32>] {
^body(%a: tensor<64x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// A work item zeroes the part of the result that it owns, then adds its iterations in order; vectors cover this part.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --implicit-check-not=gather --implicit-check-not=masked

// CHECK-LABEL: @mtc_kernel.rows
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : [[V:vector<(16|32|64)xf32>]]
// CHECK: scf.for
// CHECK: llvm.store %[[ZERO]], {{.*}} : [[V]], !llvm.ptr
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> i64
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> [[V]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr
// CHECK: %[[OLD:.*]] = llvm.load %[[PLACE]] {{.*}} -> [[V]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[X]] : [[V]]
// CHECK: llvm.store %[[NEW]], %[[PLACE]] {{.*}} : [[V]], !llvm.ptr
// CHECK: llvm.return
mtc.kernel_function @rows [64, 768] reduce [0] -> [tensor<1000x768xf32>] {
^body(%a: tensor<64x768xf32>, %ids: tensor<64xi64>):
  %i = mtc.kernel.load %ids at affine_map<(d0, d1) -> (d0)> : tensor<64xi64> -> i64
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%i] add [0] : f32
}

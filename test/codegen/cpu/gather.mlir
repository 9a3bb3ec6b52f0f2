// Rows at computed indices are loaded as vectors. Gathers are used only for single elements at computed indices.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s

// An embedding: the index is loaded and checked once per row.
// CHECK-LABEL: @mtc_kernel.rows
// CHECK: llvm.load {{.*}} -> i64
// CHECK: arith.cmpi uge
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: gather
// CHECK-NOT: llvm.load {{.*}} -> i64
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> [[V:vector<(16|32|64)xf32>]]
// CHECK: llvm.store %[[X]], {{.*}} : [[V]], !llvm.ptr
// CHECK: llvm.return
mtc.kernel_function @rows [64, 768] -> [tensor<64x768xf32>] {
^body(%table: tensor<1000x768xf32>, %ids: tensor<64xi64>):
  %i = mtc.kernel.load %ids at affine_map<(d0, d1) -> (d0)> : tensor<64xi64> -> i64
  %j = mtc.kernel.check %i below 1000
  %x = mtc.kernel.load %table at affine_map<(d0, d1)[s0] -> (s0, d1)> [%j] : tensor<1000x768xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// CHECK-LABEL: @mtc_kernel.elements
// CHECK: llvm.load {{.*}} -> vector<[[N:(16|32|64)]]xi64>
// CHECK: %[[X:.*]] = llvm.intr.masked.gather {{.*}} -> vector<[[N]]xf32>
// CHECK: llvm.store %[[X]]
mtc.kernel_function @elements [64, 768] -> [tensor<64x768xf32>] {
^body(%table: tensor<64x1000xf32>, %ids: tensor<64x768xi64>):
  %i = mtc.kernel.load %ids at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xi64> -> i64
  %x = mtc.kernel.load %table at affine_map<(d0, d1)[s0] -> (d0, s0)> [%i] : tensor<64x1000xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

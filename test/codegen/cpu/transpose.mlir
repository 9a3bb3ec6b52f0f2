// Squares of elements are loaded as rows, transposed in registers and stored as rows.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --implicit-check-not=gather --implicit-check-not=scatter

// CHECK-LABEL: @mtc_kernel.transpose
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: llvm.return
mtc.kernel_function @transpose [512, 256] -> [tensor<512x256xf32>] {
^body(%a: tensor<256x512xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d1, d0)> : tensor<256x512xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// If the permutation keeps the innermost axis, rows are copied.
// CHECK-LABEL: @mtc_kernel.heads
// CHECK-NOT: vector.shuffle
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> [[V:vector<(16|32|64)xf32>]]
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store %[[X]], {{.*}} : [[V]], !llvm.ptr
// CHECK: llvm.return
mtc.kernel_function @heads [4, 12, 256, 64] -> [tensor<4x12x256x64xf32>] {
^body(%a: tensor<4x256x12x64xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)> : tensor<4x256x12x64xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>] : f32
}

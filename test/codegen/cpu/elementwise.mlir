// Vectors cover the contiguous axis: every operand is a vector load, or one broadcast element.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cpu --canonicalize --cse | FileCheck %s --implicit-check-not=gather

// One loop nest. Operands without a row index are loaded once for all rows, operands without a column index once for all lanes.
// CHECK-LABEL: @mtc_kernel.broadcasts
// CHECK: scf.for
// CHECK: %[[C:.*]] = llvm.load {{.*}} -> f32
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> [[V:vector<(16|32|64)xf32>]]
// CHECK-DAG: vector.broadcast %[[C]] : f32 to [[V]]
// CHECK-DAG: arith.addf {{.*}} : [[V]]
// CHECK: arith.mulf {{.*}} : [[V]]
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.store {{.*}} : [[V]], !llvm.ptr
// CHECK-NOT: scf.for
// CHECK: llvm.return
mtc.kernel_function @broadcasts [64, 768] -> [tensor<64x768xf32>] {
^body(%a: tensor<64x768xf32>, %b: tensor<768xf32>, %c: tensor<64xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d1)> : tensor<768xf32> -> f32
  %z = mtc.kernel.load %c at affine_map<(d0, d1) -> (d0)> : tensor<64xf32> -> f32
  %s = arith.addf %x, %y : f32
  %p = arith.mulf %s, %z : f32
  mtc.kernel.yield %p at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Contiguous axes are merged: one loop of vectors over all elements.
// CHECK-LABEL: @mtc_kernel.flat
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.load {{.*}} -> vector<{{.*}}xf32>
// CHECK: llvm.return
mtc.kernel_function @flat [30, 100, 160] -> [tensor<30x100x160xf32>] {
^body(%a: tensor<30x100x160xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2) -> (d0, d1, d2)> : tensor<30x100x160xf32> -> f32
  %y = arith.negf %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1, d2) -> (d0, d1, d2)>] : f32
}

// The remainder of an axis is masked, without a scalar loop.
// CHECK-LABEL: @mtc_kernel.ragged
// CHECK: llvm.intr.masked.load {{.*}} -> vector<{{.*}}xf32>
// CHECK: llvm.intr.masked.store {{.*}} : vector<{{.*}}xf32>
mtc.kernel_function @ragged [3, 20] -> [tensor<3x20xf32>] {
^body(%a: tensor<3x20xf32>, %b: tensor<3xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<3x20xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0)> : tensor<3xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// 16-bit elements are converted in registers.
// CHECK-LABEL: @mtc_kernel.half
// CHECK: llvm.load {{.*}} -> vector<[[N:(16|32|64)]]xi16>
// CHECK: arith.extf {{.*}} : vector<[[N]]xbf16> to vector<[[N]]xf32>
// CHECK: arith.truncf {{.*}} : vector<[[N]]xf32> to vector<[[N]]xbf16>
mtc.kernel_function @half [4096] -> [tensor<4096xbf16>] {
^body(%a: tensor<4096xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4096xbf16> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// Column reductions: threads cover columns, and fixed groups of rows are summed separately.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda --canonicalize --cse | FileCheck %s

// CHECK-LABEL: gpu.module @mtc_kernel.columns
// CHECK: llvm.mlir.global internal @columns$0$shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x vector<4xf32>>
// CHECK: gpu.func @columns$0(%[[A:.*]]: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<1>, %[[SCRATCH:.*]]: !llvm.ptr<1>)
// CHECK: scf.for
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: gpu.return
// CHECK: gpu.func @columns$1
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
mtc.kernel_function @columns [1024, 768] reduce [0] -> [tensor<768xf32>] {
^body(%a: tensor<1024x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x768xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

// One thread reduces each short column and issues all of its loads at once.
// CHECK-LABEL: gpu.func @short
// CHECK-NOT: scf.for
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
mtc.kernel_function @short [4, 196608] reduce [0] -> [tensor<196608xf32>] {
^body(%a: tensor<4x196608xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4x196608xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d1)>] : f32
}

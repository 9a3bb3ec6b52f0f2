// Elementwise kernels whose loads are not contiguous in the order of stores use shared memory.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda --canonicalize --cse | FileCheck %s

// Rows of the square are padded by one element. Operands that are contiguous in the order of stores are loaded without shared memory.
// CHECK-LABEL: gpu.module @mtc_kernel.transpose
// CHECK: llvm.mlir.global internal @transpose$shared0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1056 x f32>
// CHECK: gpu.func @transpose
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK-COUNT-4: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-NOT: llvm.store
// CHECK-COUNT-2: llvm.load
// CHECK-COUNT-4: llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK: gpu.return
mtc.kernel_function @transpose [768, 1024] -> [tensor<768x1024xf32>] {
^body(%a: tensor<1024x768xf32>, %b: tensor<768x1024xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d1, d0)> : tensor<1024x768xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<768x1024xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// A permutation that moves whole rows needs no shared memory.
// CHECK-LABEL: gpu.func @heads
// CHECK-NOT: gpu.barrier
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
mtc.kernel_function @heads [4, 12, 256, 64] -> [tensor<4x12x256x64xf32>] {
^body(%a: tensor<4x256x12x64xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)> : tensor<4x256x12x64xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>] : f32
}

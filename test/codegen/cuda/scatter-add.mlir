// Sums at computed indices: results are zeroed, then each index belongs to one block.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda --canonicalize --cse | FileCheck %s

// The gradient of an embedding. Each warp finds the next rows that belong to the block. Threads then add these rows in order, each its own
// columns.
// CHECK-LABEL: gpu.module @mtc_kernel.rows
// CHECK: gpu.func @rows$0
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<1>
// CHECK: gpu.return
// CHECK: gpu.func @rows$1
// CHECK: arith.remui %{{.*}}, %c512_i32
// CHECK: scf.for
// CHECK: arith.cmpi uge
// CHECK: llvm.cmpxchg
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: llvm.intr.cttz
// CHECK: %[[X:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[OLD:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[X]]
// CHECK: llvm.store %[[SUM]]
// CHECK: gpu.barrier
// CHECK: gpu.return
mtc.kernel_function @rows [8192, 768] reduce [0] -> [tensor<50257x768xf32>] {
^body(%i: tensor<8192xi64>, %g: tensor<8192x768xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0)> : tensor<8192xi64> -> i64
  %j = mtc.kernel.check %k below 50257
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<8192x768xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%j] add [0] : f32
}

// Every row has its own indices, so that one thread iterates over it.
// CHECK-LABEL: gpu.module @mtc_kernel.within
// CHECK: gpu.func @within$1
// CHECK-NOT: gpu.shuffle
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
mtc.kernel_function @within [1024, 16] reduce [1] -> [tensor<1024x50257xf32>] {
^body(%i: tensor<1024x16xi64>, %g: tensor<1024x16xf32>):
  %k = mtc.kernel.load %i at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x16xi64> -> i64
  %j = mtc.kernel.check %k below 50257
  %x = mtc.kernel.load %g at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x16xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1)[s0] -> (d0, s0)>] [%j] add [0] : f32
}

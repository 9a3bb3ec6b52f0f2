// A row reduction keeps the row in registers if it fits.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda --canonicalize --cse | FileCheck %s

// At most one warp reduces a row, with shuffles only.
// CHECK-LABEL: gpu.module @mtc_kernel.short
// CHECK-NOT: llvm.mlir.global
// CHECK: gpu.func @short
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
mtc.kernel_function @short [4096, 64] reduce [1] -> [tensor<4096xf32>] {
^body(%a: tensor<4096x64xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4096x64xf32> -> f32
  %s = mtc.kernel.reduce add %x : f32
  mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0)>] : f32
}

// A row of 192 vectors has two levels of reductions. Warps read it once and communicate through shared memory.
// CHECK-LABEL: gpu.module @mtc_kernel.softmax
// CHECK-COUNT-2: llvm.mlir.global internal @softmax$shared{{[01]}}() {addr_space = 3
// CHECK: gpu.func @softmax
// CHECK: %[[X:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.maximumf
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: %[[D:.*]] = arith.subf %[[X]]
// CHECK: math.exp
// CHECK: gpu.barrier
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: arith.divf
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: gpu.return
mtc.kernel_function @softmax [1024, 768] reduce [1] -> [tensor<1024x768xf32>] {
^body(%a: tensor<1024x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x768xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = mtc.kernel.reduce add %e : f32
  %y = arith.divf %e, %s : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Longer rows are read for each level.
// CHECK-LABEL: gpu.func @long
// CHECK: scf.for
// CHECK: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<1>
mtc.kernel_function @long [1024, 50257] reduce [1] -> [tensor<1024x50257xf32>] {
^body(%a: tensor<1024x50257xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<1024x50257xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  %e = math.exp %d : f32
  %s = mtc.kernel.reduce add %e : f32
  %y = arith.divf %e, %s : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Blocks share a few long rows, and store partial results in scratch memory.
// CHECK-LABEL: gpu.module @mtc_kernel.norm
// CHECK: gpu.func @norm$0(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[SCRATCH:.*]]: !llvm.ptr<1>)
// CHECK: arith.mulf
// CHECK: gpu.barrier
// CHECK: llvm.getelementptr %[[SCRATCH]]
// CHECK: llvm.store
// CHECK: gpu.return
// CHECK: gpu.func @norm$1(%{{.*}}: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<1>, %[[SCRATCH:.*]]: !llvm.ptr<1>)
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[SCRATCH]]
// CHECK: gpu.barrier
// CHECK: llvm.store %{{.*}}, %[[R]] : f32, !llvm.ptr<1>
// CHECK: gpu.return
mtc.kernel_function @norm [38597376] reduce [0] -> [tensor<f32>] {
^body(%a: tensor<38597376xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<38597376xf32> -> f32
  %q = arith.mulf %x, %x : f32
  %s = mtc.kernel.reduce add %q : f32
  %r = math.sqrt %s : f32
  mtc.kernel.yield %r at [affine_map<(d0) -> ()>] : f32
}

// Threads past the end of the row read nothing; their results are neither reduced nor stored.
// CHECK-LABEL: gpu.func @uneven
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %{{.*}}, %c25_i32
// CHECK-NOT: llvm.load
// CHECK: scf.if %[[EXISTS]]
// CHECK-NEXT: llvm.getelementptr
// CHECK-NEXT: llvm.load
// CHECK-NOT: llvm.load
// CHECK: arith.select %[[EXISTS]], %{{.*}} : vector<4xf32>
// CHECK: scf.if %[[EXISTS]]
// CHECK: llvm.store
mtc.kernel_function @uneven [4096, 100] reduce [1] -> [tensor<4096x100xf32>] {
^body(%a: tensor<4096x100xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4096x100xf32> -> f32
  %m = mtc.kernel.reduce max %x : f32
  %d = arith.subf %x, %m : f32
  mtc.kernel.yield %d at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

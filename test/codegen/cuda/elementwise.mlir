// Each thread of an elementwise kernel accesses 16 bytes if the alignment of all operands permits it.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda --canonicalize --cse | FileCheck %s

// The grid has enough blocks for one iteration per thread, so there is no loop.
// CHECK-LABEL: gpu.module @mtc_kernel.merged
// CHECK: gpu.func @merged(%[[A:.*]]: !llvm.ptr<1>, %[[R:.*]]: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK-NOT: scf
// CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: %[[Y:.*]] = math.tanh %[[X]] : vector<4xf32>
// CHECK: llvm.store %[[Y]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NEXT: gpu.return
mtc.kernel_function @merged [64, 768] -> [tensor<64x768xf32>] {
^body(%a: tensor<64x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %y = math.tanh %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// A bias is added along the last dim: the index is split into row and column.
// CHECK-LABEL: gpu.func @bias
// CHECK: %[[D:.*]] = arith.remui %{{.*}}, %c192_i32
// CHECK: arith.divui %{{.*}}, %c192_i32
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
mtc.kernel_function @bias [64, 768] -> [tensor<64x768xf32>] {
^body(%a: tensor<64x768xf32>, %b: tensor<768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d1)> : tensor<768xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// With 16-bit types, a thread computes eight elements in f32.
// CHECK-LABEL: gpu.func @halves
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK: arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
mtc.kernel_function @halves [64, 768] -> [tensor<64x768xbf16>] {
^body(%a: tensor<64x768xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<64x768xbf16> -> f32
  %y = arith.mulf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Remainders of vectors are computed element by element.
// CHECK-LABEL: gpu.func @ragged
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: arith.cmpi slt, %{{.*}}, %c3_i32
// CHECK: scf.if
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK: gpu.return
mtc.kernel_function @ragged [1035] -> [tensor<1035xf32>] {
^body(%a: tensor<1035xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<1035xf32> -> f32
  %y = arith.addf %x, %x : f32
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
}

// Rows of an odd length are not aligned.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: vector<
// CHECK: gpu.return
mtc.kernel_function @odd [8, 65] -> [tensor<8x65xf32>] {
^body(%a: tensor<8x65xf32>, %b: tensor<65xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<8x65xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d1)> : tensor<65xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// Threads of a grid of limited size iterate, and issue four loads before their stores.
// CHECK-LABEL: gpu.func @large
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xf32>
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
mtc.kernel_function @large [50257, 768] -> [tensor<50257x768xf32>] {
^body(%a: tensor<50257x768xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<50257x768xf32> -> f32
  %y = arith.negf %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// For a concatenation, each vector determines its part once for all its elements.
// CHECK-LABEL: gpu.func @joined
// CHECK: %[[G:.*]] = arith.cmpi slt, %{{.*}}, %c768_i64 : i64
// CHECK: scf.if %[[G]] -> (vector<4xf32>)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: scf.if %{{.*}} -> (vector<4xf32>)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
mtc.kernel_function @joined [8, 1536] -> [tensor<8x1536xf32>] {
^body(%a: tensor<8x768xf32>, %b: tensor<8x768xf32>):
  %c768 = arith.constant 768 : i64
  %zero = arith.constant 0.0 : f32
  %i = mtc.kernel.index affine_map<(d0, d1) -> (d1)>
  %first = arith.cmpi slt, %i, %c768 : i64
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> if %first else %zero : f32 : tensor<8x768xf32> -> f32
  %second = arith.cmpi sge, %i, %c768 : i64
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1 - 768)> if %second else %zero : f32 : tensor<8x768xf32> -> f32
  %z = arith.addf %x, %y : f32
  mtc.kernel.yield %z at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// An embedding: each thread loads and checks the row's index, and the row is loaded as vectors.
// CHECK-LABEL: gpu.module @mtc_kernel.rows
// CHECK: gpu.func @rows(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[FAULT:.*]]: !llvm.ptr<1>)
// CHECK: %[[BAD:.*]] = arith.cmpi uge
// CHECK: scf.if %[[BAD]]
// CHECK: llvm.cmpxchg %[[FAULT]]
// CHECK: llvm.load {{.*}} -> vector<4xf32>
mtc.kernel_function @rows [64, 768] -> [tensor<64x768xf32>] {
^body(%table: tensor<1000x768xf32>, %ids: tensor<64xi64>):
  %i = mtc.kernel.load %ids at affine_map<(d0, d1) -> (d0)> : tensor<64xi64> -> i64
  %j = mtc.kernel.check %i below 1000
  %x = mtc.kernel.load %table at affine_map<(d0, d1)[s0] -> (s0, d1)> [%j] : tensor<1000x768xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

// There are more elements than 32 bits can count.
// CHECK-LABEL: gpu.func @huge
// CHECK: arith.index_cast {{.*}} : index to i64
mtc.kernel_function @huge [70000, 70000] -> [tensor<70000x70000xf32>] {
^body(%a: tensor<70000x70000xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<70000x70000xf32> -> f32
  %y = arith.negf %x : f32
  mtc.kernel.yield %y at [affine_map<(d0, d1) -> (d0, d1)>] : f32
}

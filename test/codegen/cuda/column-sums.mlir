// Columns are summed while their rows are computed: first in registers over the rows of a team, then over the teams of a block. A second
// launch sums the blocks in order.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda | FileCheck %s

// CHECK-LABEL: gpu.module @mtc_kernel.norm
// CHECK: gpu.func @norm$0(%[[X:.*]]: !llvm.ptr<1>, %[[DY:.*]]: !llvm.ptr<1>, %[[H:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[SCRATCH:.*]]: !llvm.ptr<1>)
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: gpu.shuffle
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]]
// CHECK: scf.yield %[[MORE]]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK: gpu.func @norm$1
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: gpu.barrier
// CHECK-NOT: atomic
mtc.kernel_function @norm [2048, 128] reduce [1] -> [tensor<2048x128xf32>, tensor<128xf32>] {
^body(%a: tensor<2048x128xf32>, %dy: tensor<2048x128xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<2048x128xf32> -> f32
  %d = mtc.kernel.load %dy at affine_map<(d0, d1) -> (d0, d1)> : tensor<2048x128xf32> -> f32
  %q = arith.mulf %x, %x : f32
  %s = mtc.kernel.reduce add %q : f32
  %n = math.rsqrt %s : f32
  %h = arith.mulf %x, %n : f32
  %p = arith.mulf %h, %d : f32
  mtc.kernel.yield %h, %p at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
}

// A team of 8 threads reads a row of 64 channels. The four teams of a warp first add their sums with shuffles at distances of 16 and 8
// lanes. Then the eight warps add theirs.
// CHECK-LABEL: gpu.module @mtc_kernel.channels
// CHECK: llvm.mlir.global internal @{{.*}}shared0{{.*}} : !llvm.array<2048 x i8>
// CHECK: gpu.func @channels$0
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.for
// CHECK-COUNT-16: gpu.shuffle
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf32>
mtc.kernel_function @channels [100352, 64] -> [tensor<64xbf16>] {
^body(%a: tensor<100352x64xbf16>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<100352x64xbf16> -> f32
  mtc.kernel.yield %x at [affine_map<(d0, d1) -> (d1)>] add [0] : f32
}

// The nine operands of a row do not fit in registers between reductions. There are no reductions, so the sums stay in registers.
// CHECK-LABEL: gpu.module @mtc_kernel.operands
// CHECK: gpu.func @operands$0
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
mtc.kernel_function @operands [4096, 256] -> [tensor<256xf32>] {
^body(%a: tensor<4096x256xf32>, %b: tensor<4096x256xf32>, %c0: tensor<256xf32>, %c1: tensor<256xf32>, %c2: tensor<256xf32>, %c3: tensor<256xf32>, %c4: tensor<256xf32>, %c5: tensor<256xf32>, %c6: tensor<256xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4096x256xf32> -> f32
  %y = mtc.kernel.load %b at affine_map<(d0, d1) -> (d0, d1)> : tensor<4096x256xf32> -> f32
  %v0 = mtc.kernel.load %c0 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v1 = mtc.kernel.load %c1 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v2 = mtc.kernel.load %c2 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v3 = mtc.kernel.load %c3 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v4 = mtc.kernel.load %c4 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v5 = mtc.kernel.load %c5 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %v6 = mtc.kernel.load %c6 at affine_map<(d0, d1) -> (d1)> : tensor<256xf32> -> f32
  %s0 = arith.mulf %x, %v0 : f32
  %s1 = arith.addf %s0, %v1 : f32
  %s2 = arith.addf %s1, %v2 : f32
  %s3 = arith.addf %s2, %v3 : f32
  %s4 = arith.addf %s3, %v4 : f32
  %s5 = arith.addf %s4, %v5 : f32
  %s6 = arith.addf %s5, %v6 : f32
  %s7 = arith.mulf %s6, %y : f32
  mtc.kernel.yield %s7 at [affine_map<(d0, d1) -> (d1)>] add [0] : f32
}

// Columns are added up while their rows are computed: in registers, from row to row of a team's group; a second launch adds
// up the groups, in their order.
// RUN: mtc-opt %s --mtc-lower-kernels-to-cuda | FileCheck %s

// CHECK-LABEL: gpu.module @mtc_kernel.norm
// CHECK: gpu.func @norm$0(%[[X:.*]]: !llvm.ptr<1>, %[[DY:.*]]: !llvm.ptr<1>, %[[H:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[SCRATCH:.*]]: !llvm.ptr<1>)
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<4xf32>)
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: gpu.shuffle
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]]
// CHECK: scf.yield %[[MORE]]
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

// Automatic offloading in mtc-fit offloads nothing without a budget, nothing to a disk without the option, and otherwise only as much as
// the budget requires.
//
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{offload=auto offload-window=4096})' | FileCheck %s --check-prefix=FREE
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{recompute=none tile=none memory=220000 offload-window=4096})' | FileCheck %s --check-prefix=FREE
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{recompute=none tile=none offload=none memory=220000 offload-window=4096})' | FileCheck %s --check-prefix=FREE
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{recompute=none tile=none offload=auto memory=220000 offload-window=4096})' | FileCheck %s
// FREE-NOT: disk

// Optimizer state is updated in windows.
// CHECK: mtc.transfer_slots 4 size 4096
// CHECK: parameter @p : tensor
// CHECK: optimizer @m in {{ *}}disk : tensor<128x128xf32>
// CHECK-LABEL: func.func @micro_step
// CHECK-NOT: mtc.move
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  mtc.variable optimizer @m : tensor<128x128xf32> = #mtc.zeros of @p
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %m = mtc.read @m : tensor<128x128xf32>
    %new = mtc.mul %m, %x : tensor<128x128xf32>
    mtc.write @m, %new : tensor<128x128xf32>
    %p = mtc.read @p : tensor<128x128xf32>
    %sum = mtc.add %p, %x : tensor<128x128xf32>
    mtc.write @p, %sum : tensor<128x128xf32>
    return
  }
}

// -----

// A gradient that a kernel accumulates runs in windows, in both functions.
// CHECK: mtc.transfer_slots 4 size 4096
// CHECK: gradient @g in {{ *}}disk : tensor<128x128xf32>
// CHECK-LABEL: func.func @inner
// CHECK-NOT: mtc.move
module {
  mtc.variable state @p : tensor<128x128xf32> = #mtc.zeros
  mtc.variable gradient @g : tensor<128x128xf32> = #mtc.zeros of @p
  func.func @inner(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %g = mtc.read @g : tensor<128x128xf32>
    %new = mtc.add %g, %x : tensor<128x128xf32>
    mtc.write @g, %new : tensor<128x128xf32>
    return
  }
  func.func @outer() {
    %g = mtc.read @g : tensor<128x128xf32>
    %p = mtc.read @p : tensor<128x128xf32>
    %sum = mtc.add %p, %g : tensor<128x128xf32>
    %zero = mtc.sub %g, %g : tensor<128x128xf32>
    mtc.write @p, %sum : tensor<128x128xf32>
    mtc.write @g, %zero : tensor<128x128xf32>
    return
  }
}

// -----

// A parameter is fetched for the contraction that reads it.
// CHECK: parameter @p in {{ *}}disk : tensor<128x128xf32>
// CHECK: %[[P:.*]] = mtc.read @p
// CHECK: %[[HERE:.*]] = mtc.move %[[P]] to {{ *}}device
// CHECK: mtc.contract %{{.*}}, %[[HERE]]
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  func.func @evaluate(%x: tensor<64x128xf32> {mtc.name = "x"}, %z: tensor<128x128xf32> {mtc.name = "z"}) -> (tensor<64x128xf32> {mtc.name = "y"}, tensor<f32> {mtc.name = "s"}) {
    %a = mtc.contract %z, %z batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %b = mtc.contract %a, %z batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %s = mtc.reduce add %b axes [0, 1] : tensor<128x128xf32> -> tensor<f32>
    %p = mtc.read @p : tensor<128x128xf32>
    %y = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<64x128xf32>, tensor<128x128xf32> -> tensor<64x128xf32>
    return %y, %s : tensor<64x128xf32>, tensor<f32>
  }
}

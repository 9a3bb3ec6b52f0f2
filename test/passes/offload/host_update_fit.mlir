// The search lets the host update the state if it is faster than copies of the state. One thread of the host is slower than the bus of an
// A100, and 64 are faster.
//
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_80 threads=64},mtc-kernel-pipeline,mtc-fit{recompute=none tile=none memory=140000000})' | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_80 threads=1},mtc-kernel-pipeline,mtc-fit{recompute=none tile=none memory=140000000})' | FileCheck %s --check-prefix=DEVICE
// CHECK: mtc.techniques = ["offload-update"]
// CHECK: mtc.transfer_slots in {{ *}}pinned_host 4
// CHECK: optimizer @m in {{ *}}pinned_host
// CHECK: optimizer @v in {{ *}}pinned_host
// CHECK: mtc.kernel [4096, 4096] on_host
// DEVICE: mtc.techniques = ["offload-optimizer"]
// DEVICE: mtc.transfer_slots 4
// DEVICE-NOT: on_host
module {
  mtc.variable state @p : tensor<64x64xf32> = #mtc.zeros
  mtc.variable optimizer @m : tensor<4096x4096xf32> = #mtc.zeros of @p
  mtc.variable optimizer @v : tensor<4096x4096xf32> = #mtc.zeros of @p
  func.func @micro_step(%x: tensor<4096x64xf32> {mtc.name = "x"}, %y: tensor<64x4096xf32> {mtc.name = "y"}) {
    %m = mtc.read @m : tensor<4096x4096xf32>
    %v = mtc.read @v : tensor<4096x4096xf32>
    %g = mtc.contract %x, %y batch [] x [] over [1] x [0] : tensor<4096x64xf32>, tensor<64x4096xf32> -> tensor<4096x4096xf32>
    %square = mtc.mul %g, %g : tensor<4096x4096xf32>
    %first = mtc.mul %m, %g : tensor<4096x4096xf32>
    %second = mtc.mul %v, %square : tensor<4096x4096xf32>
    mtc.write @m, %first : tensor<4096x4096xf32>
    mtc.write @v, %second : tensor<4096x4096xf32>
    return
  }
}

// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_90},mtc-kernel-pipeline,mtc-offload-variables{offload=update offload-window=4096})' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_90},mtc-kernel-pipeline,mtc-offload-variables{offload=update offload-window=4096},mtc-allocate,mtc-overlap-copies)' | FileCheck %s --check-prefix=STREAMS
// RUN: mtc-opt %s -split-input-file --remark-format=emitRemark --remarks-filter='mtc-offload' --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_90},mtc-kernel-pipeline,mtc-offload-variables{offload=update offload-window=4096})' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS

// The kernel that writes the state runs on the host. The learning rate is copied once, and the gradient and the parameter in windows.
// CHECK: mtc.transfer_slots in {{ *}}pinned_host 4 size 4096
// CHECK: parameter @p : tensor
// CHECK: optimizer @m in {{ *}}pinned_host : tensor<64x64xf32>
// CHECK: %[[RATE:.*]] = mtc.read @rate
// CHECK: %[[THERE:.*]] = mtc.move %[[RATE]] to {{ *}}pinned_host
// CHECK: mtc.kernel [64, 64] on_host(
// CHECK-SAME: %[[THERE]]
// Copies of results to the device are on another stream than earlier copies to the device.
// STREAMS: mtc.kernel_function @[[K:.*]] [8, 64] on_host
// STREAMS: mtc.step @micro_step
// STREAMS: %[[IN:.*]] = mtc.async_copy <{{.*}}, tensor<8x64xf32>> into <{{.*}}, tensor<8x64xf32>, pinned_host> stream 2
// STREAMS: %[[UPDATE:.*]] = mtc.async_launch @[[K]] [{{.*}}pinned_host>] into [{{.*}}pinned_host>{{.*}}] stream 4 after {{.*}}%[[IN]]
// STREAMS: mtc.async_copy <{{.*}}, tensor<8x64xf32>, pinned_host> into <{{.*}}, tensor<8x64xf32>> stream 5 after {{.*}}%[[UPDATE]]
module {
  mtc.variable parameter @p : tensor<64x64xf32> = #mtc.zeros
  mtc.variable optimizer @m : tensor<64x64xf32> = #mtc.zeros of @p
  mtc.variable state @rate : tensor<f32> = #mtc.zeros
  func.func @micro_step(%x: tensor<64x64xf32> {mtc.name = "x"}) {
    %p = mtc.read @p : tensor<64x64xf32>
    %g = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %m = mtc.read @m : tensor<64x64xf32>
    %rate = mtc.read @rate : tensor<f32>
    %new = mtc.mul %m, %g : tensor<64x64xf32>
    %factor = mtc.broadcast %rate axes [0, 1] : tensor<f32> -> tensor<64x64xf32>
    %step = mtc.mul %new, %factor : tensor<64x64xf32>
    %sum = mtc.sub %p, %step : tensor<64x64xf32>
    mtc.write @m, %new : tensor<64x64xf32>
    mtc.write @p, %sum : tensor<64x64xf32>
    return
  }
}

// -----

// State that the device uses, too, stays there, as does that of an update that the host would round differently.
// CHECK-NOT: on_host
// REMARKS: 'used' is not offloaded: the device reads its new value
// REMARKS: 'rounded' is not offloaded: its update computes math.exp, which the device rounds differently
module {
  mtc.variable state @p : tensor<64x64xf32> = #mtc.zeros
  mtc.variable optimizer @used : tensor<64x64xf32> = #mtc.zeros
  mtc.variable optimizer @rounded : tensor<64x64xf32> = #mtc.zeros
  func.func @update(%x: tensor<64x64xf32> {mtc.name = "x"}) {
    %used = mtc.read @used : tensor<64x64xf32>
    %new = mtc.add %used, %x : tensor<64x64xf32>
    %p = mtc.contract %new, %x batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    mtc.write @used, %new : tensor<64x64xf32>
    mtc.write @p, %p : tensor<64x64xf32>
    %rounded = mtc.read @rounded : tensor<64x64xf32>
    %exp = mtc.exp %rounded : tensor<64x64xf32>
    mtc.write @rounded, %exp : tensor<64x64xf32>
    return
  }
}

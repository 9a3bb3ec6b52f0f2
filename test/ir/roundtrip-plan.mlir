// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// The device's memory space is not printed.
// CHECK: mtc.arena size 192 live 192
mtc.arena size 192 live 192
// CHECK: mtc.arena in pinned_host size 64 live 64
mtc.arena in pinned_host size 64 live 64
// CHECK: mtc.arena in host size 64 live 64
mtc.arena in host size 64 live 64

mtc.kernel_function @k [16] -> [tensor<16xf32>] {
^bb0(%a: tensor<16xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK-LABEL: mtc.step @staged
mtc.step @staged reads ["x"] [#mtc.at<0, tensor<16xf32>>] gives ["y"] [#mtc.at<128, tensor<16xf32>>] {
  // CHECK: mtc.launch @k [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>]
  mtc.launch @k [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>]
  // CHECK: %[[OUT:.*]] = mtc.async_copy <64, tensor<16xf32>> into <0, tensor<16xf32>, host> stream 1
  %out = mtc.async_copy <64, tensor<16xf32>> into <0, tensor<16xf32>, host> stream 1
  // CHECK: mtc.copy <0, tensor<16xf32>> into <64, tensor<16xf32>> after %[[OUT]]
  mtc.copy <0, tensor<16xf32>> into <64, tensor<16xf32>> after %out
  // When the last copy is complete, streams 1 and 2 both are.
  // CHECK: %[[NEXT:.*]] = mtc.async_copy <0, tensor<16xf32>, host> into <0, tensor<16xf32>, pinned_host> stream 2 after %[[OUT]]
  %next = mtc.async_copy <0, tensor<16xf32>, host> into <0, tensor<16xf32>, pinned_host> stream 2 after %out
  // CHECK: %[[BACK:.*]] = mtc.async_copy <0, tensor<16xf32>, pinned_host> into <64, tensor<16xf32>> stream 1 after %[[NEXT]]
  %back = mtc.async_copy <0, tensor<16xf32>, pinned_host> into <64, tensor<16xf32>> stream 1 after %next
  // CHECK: mtc.launch @k [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<128, tensor<16xf32>>] after %[[BACK]]
  mtc.launch @k [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<128, tensor<16xf32>>] after %back
  mtc.copy <0, tensor<16xf32>, pinned_host> into <0, tensor<16xf32>, host>
}

// A kernel on the host has operands in pinned memory, and may run while the device computes.

// CHECK: mtc.transfer_slots in {{ *}}pinned_host 4 size 4096
mtc.transfer_slots in pinned_host 4 size 4096
// CHECK: mtc.kernel_function @on_host [16] on_host -> [tensor<16xf32>]
mtc.kernel_function @on_host [16] on_host -> [tensor<16xf32>] {
^bb0(%a: tensor<16xf32>):
  %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
  mtc.kernel.yield %v at [affine_map<(d0) -> (d0)>] : f32
}

// CHECK-LABEL: mtc.step @updated
mtc.step @updated reads [] [] gives [] [] {
  // CHECK: %[[DONE:.*]] = mtc.async_launch @on_host [#mtc.at<0, tensor<16xf32>, pinned_host>] into [#mtc.at<0, tensor<16xf32>, pinned_host>] stream 4
  %done = mtc.async_launch @on_host [#mtc.at<0, tensor<16xf32>, pinned_host>] into [#mtc.at<0, tensor<16xf32>, pinned_host>] stream 4
  // CHECK: mtc.launch @on_host {{.*}} after %[[DONE]]
  mtc.launch @on_host [#mtc.at<0, tensor<16xf32>, pinned_host>] into [#mtc.at<0, tensor<16xf32>, pinned_host>] after %done
}

// A value may be overwritten by its last user; scratch memory is live while its operation runs.

// CHECK-LABEL: mtc.step @lives
mtc.step @lives reads ["x"] [#mtc.at<0, tensor<16xf32>>] gives ["y"] [#mtc.at<64, tensor<16xf32>>] {
  // CHECK: mtc.launch @k [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] scratch 64 at 128 until [1]
  mtc.launch @k [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] scratch 64 at 128 until [1]
  // CHECK: mtc.launch @k [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] until [3]
  mtc.launch @k [#mtc.at<64, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] until [3]
  // CHECK: mtc.copy <64, tensor<16xf32>> into <0, tensor<16xf32>> until [-1]
  mtc.copy <64, tensor<16xf32>> into <0, tensor<16xf32>> until [-1]
}

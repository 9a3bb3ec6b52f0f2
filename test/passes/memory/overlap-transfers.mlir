// RUN: mtc-opt %s -mtc-overlap-copies | FileCheck %s

// The launch that reads the received rows waits, and so does the one that overwrites sent values. The launch between the two does not wait.
mtc.kernel_function @k [4] -> [tensor<4xf32>] {
^bb0(%a: tensor<4xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<4xf32> -> f32
  mtc.kernel.yield %x at [affine_map<(d0) -> (d0)>] : f32
}
// CHECK-LABEL: mtc.step @micro_step
mtc.step @micro_step reads [] [] gives [] [] {
  // CHECK: %[[FIRST:.*]] = mtc.async_transfer {{.*}} stream 3
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [4], totals = [8], element = f32>
    [#mtc.at<0, tensor<8xf32>>] into [#mtc.at<64, tensor<2x4xf32>>]
  // CHECK: mtc.launch @k {{\[}}#mtc.at<512, tensor<4xf32>>] into {{\[}}#mtc.at<576, tensor<4xf32>>]{{$}}
  mtc.launch @k [#mtc.at<512, tensor<4xf32>>] into [#mtc.at<576, tensor<4xf32>>]
  // CHECK: %[[SECOND:.*]] = mtc.async_transfer {{.*}} stream 3{{$}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [4], totals = [8], element = f32>
    [#mtc.at<128, tensor<8xf32>>] into [#mtc.at<192, tensor<2x4xf32>>]
  // A copy within the rank does not wait for other ranks.
  // CHECK: mtc.transfer <own_piece{{.*}}]{{$}}
  mtc.transfer #mtc.collective<own_piece, ranks = 2, pieces = [4], totals = [8], element = f32>
    [#mtc.at<704, tensor<8xf32>>] into [#mtc.at<768, tensor<4xf32>>]
  // CHECK: mtc.launch {{.*}} after %[[SECOND]]
  mtc.launch @k [#mtc.at<192, tensor<4xf32>>] into [#mtc.at<640, tensor<4xf32>>]
  // The second transfer is complete, and therefore the first one too.
  // CHECK: mtc.launch @k {{\[}}#mtc.at<64, tensor<4xf32>>] into {{\[}}#mtc.at<0, tensor<4xf32>>]{{$}}
  mtc.launch @k [#mtc.at<64, tensor<4xf32>>] into [#mtc.at<0, tensor<4xf32>>]
  // Several transfers of one stream may be in progress: one that receives what another one sends waits for it.
  // CHECK: %[[THIRD:.*]] = mtc.async_transfer {{.*}} stream 3{{$}}
  mtc.transfer #mtc.collective<all_gather, ranks = 2, pieces = [4], totals = [8], element = f32>
    [#mtc.at<832, tensor<4xf32>>] into [#mtc.at<896, tensor<8xf32>>]
  // CHECK: mtc.async_transfer {{.*}} stream 3 after %[[THIRD]]
  mtc.transfer #mtc.collective<all_gather, ranks = 2, pieces = [4], totals = [8], element = f32>
    [#mtc.at<960, tensor<4xf32>>] into [#mtc.at<832, tensor<8xf32>>]
}

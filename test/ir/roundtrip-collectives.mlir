// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK: mtc.program "m" stage kernels batch 8 ranks <count = 2> accumulation <micro_steps = 4>
mtc.program "m" stage kernels batch 8 ranks <count = 2> accumulation <micro_steps = 4> {}

// CHECK-LABEL: func.func @values
func.func @values(%a: tensor<8x8xf32>, %b: tensor<36xf32>, %piece: tensor<64xf32>) -> tensor<36xf32> {
  // CHECK: mtc.all_to_all %{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x64xf32>
  %rows = mtc.all_to_all %a, %b : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x64xf32>
  // CHECK: mtc.all_gather %{{.*}} ranks 2 : tensor<64xf32> -> tensor<8x8xf32>, tensor<36xf32>
  %c, %d = mtc.all_gather %piece ranks 2 : tensor<64xf32> -> tensor<8x8xf32>, tensor<36xf32>
  return %d : tensor<36xf32>
}

// CHECK-LABEL: mtc.step @transfers
mtc.step @transfers reads [] [] gives [] [] {
  // CHECK: mtc.transfer <all_to_all, ranks = 2, piece = 16, total = 24, element = f32> [#mtc.at<0, tensor<2x8xf32>>, #mtc.at<64, tensor<8xf32>>] into [#mtc.at<128, tensor<2x16xf32>>]
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<2x8xf32>>, #mtc.at<64, tensor<8xf32>>] into [#mtc.at<128, tensor<2x16xf32>>]
  // CHECK: %[[T:.*]] = mtc.async_transfer <all_gather, ranks = 2, piece = 16, total = 24, element = f32> [#mtc.at<256, tensor<16xf32>>] into [#mtc.at<0, tensor<24xf32>>] stream 3
  %t = mtc.async_transfer #mtc.collective<all_gather, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<256, tensor<16xf32>>] into [#mtc.at<0, tensor<24xf32>>] stream 3
  // CHECK: mtc.copy {{.*}} after %[[T]]
  mtc.copy #mtc.at<0, tensor<24xf32>> into #mtc.at<512, tensor<24xf32>> after %t
}

// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK: mtc.program "m" stage kernels batch 8 ranks <count = 2, shard = optimizer, reduce = last> accumulation <micro_steps = 4>
mtc.program "m" stage kernels batch 8 ranks <count = 2, shard = optimizer, reduce = last> accumulation <micro_steps = 4> {}
// CHECK: mtc.variable optimizer @w.moment : tensor<256xf32> piece of tensor<8x8xf32> = #mtc.zeros of @w
mtc.variable optimizer @w.moment : tensor<256xf32> piece of tensor<8x8xf32> = #mtc.zeros of @w
// CHECK: mtc.variable parameter @qkv : tensor<8x6xf32> part of tensor<8x24xf32> along <axis = 1, outer = 3, parts = 4, stride = 2> = #mtc.initializer<"qkv">
mtc.variable parameter @qkv : tensor<8x6xf32> part of tensor<8x24xf32> along #mtc.axis_split<axis = 1, outer = 3, parts = 4, stride = 2>
  = #mtc.initializer<"qkv">
// CHECK: mtc.variable optimizer @qkv.moment : tensor<256xf32> piece of tensor<8x6xf32> part of tensor<8x24xf32> along <axis = 1, outer = 3, parts = 4> = #mtc.zeros of @qkv
mtc.variable optimizer @qkv.moment : tensor<256xf32> piece of tensor<8x6xf32> part of tensor<8x24xf32>
  along #mtc.axis_split<axis = 1, outer = 3, parts = 4> = #mtc.zeros of @qkv

// CHECK-LABEL: func.func @values
func.func @values(%a: tensor<8x8xf32>, %b: tensor<36xf32>, %p: tensor<32xf32>) -> tensor<36xf32> {
  // CHECK: mtc.all_to_all %{{.*}}, %{{.*}} pieces [32, 18] : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x50xf32>
  %rows = mtc.all_to_all %a, %b pieces [32, 18] : tensor<8x8xf32>, tensor<36xf32> -> tensor<2x50xf32>
  // CHECK: mtc.all_gather %{{.*}}, %{{.*}} ranks 2 : tensor<32xf32>, tensor<32xf32> -> tensor<8x8xf32>, tensor<36xf32>
  %c, %d = mtc.all_gather %p, %p ranks 2 : tensor<32xf32>, tensor<32xf32> -> tensor<8x8xf32>, tensor<36xf32>
  // CHECK: mtc.own_piece %{{.*}} ranks 2 : tensor<8x8xf32> -> tensor<32xf32>
  %own = mtc.own_piece %c ranks 2 : tensor<8x8xf32> -> tensor<32xf32>
  // CHECK: mtc.average_over_ranks %{{.*}} ranks 2 : tensor<32xf32>
  %mean = mtc.average_over_ranks %own ranks 2 : tensor<32xf32>
  return %d : tensor<36xf32>
}

// CHECK-LABEL: func.func @groups
func.func @groups(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: mtc.all_to_all %{{.*}} pieces [32] stride 4 : tensor<8x8xf32> -> tensor<2x32xf32>
  %rows = mtc.all_to_all %a pieces [32] stride 4 : tensor<8x8xf32> -> tensor<2x32xf32>
  // CHECK: %[[OWN:.*]] = mtc.own_piece %{{.*}} ranks 2 stride 4 : tensor<8x8xf32> -> tensor<32xf32>
  %own = mtc.own_piece %a ranks 2 stride 4 : tensor<8x8xf32> -> tensor<32xf32>
  // CHECK: mtc.all_gather %[[OWN]] ranks 2 stride 4 : tensor<32xf32> -> tensor<8x8xf32>
  %all = mtc.all_gather %own ranks 2 stride 4 : tensor<32xf32> -> tensor<8x8xf32>
  return %all : tensor<8x8xf32>
}

// CHECK-LABEL: mtc.step @transfers
mtc.step @transfers reads [] [] gives [] [] {
  // CHECK: mtc.transfer <all_to_all, ranks = 2, pieces = [8, 4], totals = [16, 8], element = f32> [#mtc.at<0, tensor<2x8xf32>>, #mtc.at<64, tensor<8xf32>>] into [#mtc.at<128, tensor<2x12xf32>>]
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [8, 4], totals = [16, 8], element = f32>
    [#mtc.at<0, tensor<2x8xf32>>, #mtc.at<64, tensor<8xf32>>] into [#mtc.at<128, tensor<2x12xf32>>]
  // CHECK: %[[T:.*]] = mtc.async_transfer <all_gather, ranks = 2, pieces = [16], totals = [24], element = f32> [#mtc.at<256, tensor<16xf32>>] into [#mtc.at<0, tensor<24xf32>>] stream 3
  %t = mtc.async_transfer #mtc.collective<all_gather, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<256, tensor<16xf32>>] into [#mtc.at<0, tensor<24xf32>>] stream 3
  // CHECK: mtc.transfer <all_to_all, ranks = 2 stride 4, pieces = [16], totals = [24], element = f32>
  mtc.transfer #mtc.collective<all_to_all, ranks = 2 stride 4, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<128, tensor<2x16xf32>>] after %t
  // CHECK: mtc.copy {{.*}} after %[[T]]
  mtc.copy #mtc.at<0, tensor<24xf32>> into #mtc.at<512, tensor<24xf32>> after %t
}

// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{2 ranks with pieces of 16 elements cannot hold 33 elements (collective_c1)}}
#small = #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [33], element = f32>

// -----

// expected-error @below {{has ranks with the stride 0, expected at least 1 (collective_c1)}}
#stride = #mtc.collective<all_to_all, ranks = 2 stride 0, pieces = [16], totals = [32], element = f32>

// -----

// expected-error @below {{has axis 1, outer 0, parts 4, stride 1 and padding 0, expected an axis and padding of at least 0 and other numbers of at least 1 (axis_split_c1)}}
#split = #mtc.axis_split<axis = 1, outer = 0, parts = 4>

// -----

// expected-error @below {{is 'tensor<8x8xf32>', a part of 'tensor<8x24xf32>', expected its part along #mtc.axis_split<axis = 1, parts = 4> (variable_c7)}}
mtc.variable parameter @qkv : tensor<8x8xf32> part of tensor<8x24xf32> along #mtc.axis_split<axis = 1, parts = 4> = #mtc.initializer<"qkv">

// -----

// expected-error @below {{is divided along an axis, but is no part of a type (variable_c7)}}
mtc.variable parameter @qkv : tensor<8x8xf32> along #mtc.axis_split<axis = 1, parts = 4> = #mtc.initializer<"qkv">

// -----

// expected-error @below {{is part of a type, but along no axis (variable_c7)}}
mtc.variable parameter @qkv : tensor<8x8xf32> part of tensor<8x24xf32> = #mtc.initializer<"qkv">

// -----

// expected-error @below {{has 6 ranks in 1 stages of 1 tensor groups of 4, expected a multiple (ranks_c3)}}
mtc.program "m" stage training ranks <count = 6, tensor = 4> {}

// -----

// expected-error @below {{has 0 ranks, expected at least 1 (ranks_c1)}}
mtc.program "m" stage training ranks <count = 0> {}

// -----

// expected-error @below {{has 5 micro-steps for 2 ranks, expected a multiple (program_c4)}}
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 5> {}

// -----

func.func @type(%a: tensor<8xf32>) {
  // expected-error @below {{has values of 'f32' and of 'tensor<2x16xf64>', expected elements of one type (all_to_all_c1)}}
  %rows = mtc.all_to_all %a pieces [16] : tensor<8xf32> -> tensor<2x16xf64>
  return
}

// -----

func.func @rows(%a: tensor<8xf32>) {
  // expected-error @below {{has the result 'tensor<2x16xf32>', expected one row of 8 elements for each rank (all_to_all_c1)}}
  %rows = mtc.all_to_all %a pieces [8] : tensor<8xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @count(%a: tensor<8xf32>) {
  // expected-error @below {{has 2 values and 1 pieces, expected equal numbers (own_piece_c1)}}
  %piece = mtc.own_piece %a, %a ranks 2 : tensor<8xf32>, tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @large(%a: tensor<16xf32>) {
  // expected-error @below {{has 2 pieces of 16 elements, expected pieces for all 33 elements (all_gather_c1)}}
  %b = mtc.all_gather %a ranks 2 : tensor<16xf32> -> tensor<33xf32>
  return
}

// -----

mtc.step @sizes reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<128, tensor<16xf32>>, expected 32 elements of 'f32' (collective_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<128, tensor<16xf32>>]
}

// -----

mtc.step @element reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<0, tensor<24xf64>>, expected 24 elements of 'f32' (collective_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf64>>] into [#mtc.at<256, tensor<2x16xf32>>]
}

// -----

mtc.step @space reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<0, tensor<24xf32>, host>, which is not on the device (collective_c3)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>, host>] into [#mtc.at<256, tensor<2x16xf32>>]
}

// -----

mtc.step @stream reads [] [] gives [] [] {
  // expected-error @below {{is on stream 0, expected 1 or more (collective_c4)}}
  %t = mtc.async_transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>] stream 0
}

// -----

mtc.step @race reads [] [] gives [] [] {
  // expected-note @below {{the transfer}}
  %t = mtc.async_transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>] stream 3
  // expected-error @below {{writes #mtc.at<64, tensor<8xf32>> while a transfer on stream 3 reads it; wait for the transfer's token (step_c1)}}
  mtc.copy #mtc.at<512, tensor<8xf32>> into #mtc.at<64, tensor<8xf32>>
}

// -----

mtc.arena size 256 live 256
mtc.step @arena reads [] [] gives [] [] {
  // expected-error @below {{has the slice #mtc.at<256, tensor<2x16xf32>>, but the arena of the space device has 256 bytes (step_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, pieces = [16], totals = [24], element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>]
}

// -----

// expected-error @below {{is 'tensor<256xf32>', a piece of 'tensor<8x8xf64>', expected a flat piece of a tensor with the same elements (variable_c7)}}
mtc.variable optimizer @w.moment : tensor<256xf32> piece of tensor<8x8xf64> = #mtc.zeros

// -----

func.func @average(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected at least 1 rank (average_over_ranks_c1)}}
  %mean = mtc.average_over_ranks %x ranks 0 : tensor<4xf32>
  return %mean : tensor<4xf32>
}

// -----

// expected-error @below {{divides gradients that are added in the update (ranks_c2)}}
mtc.program "m" stage training ranks <count = 2, shard = gradients, reduce = last> {}

// -----

mtc.step @same_stream reads [] [] gives [] [] {
  // expected-note @below {{the transfer}}
  %t = mtc.async_transfer #mtc.collective<all_gather, ranks = 2, pieces = [16], totals = [32], element = f32>
    [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<256, tensor<32xf32>>] stream 3
  // Both transfers are in progress: this one receives what the first one still sends.
  // expected-error @below {{writes #mtc.at<0, tensor<32xf32>> while a transfer on stream 3 reads it; wait for the transfer's token (step_c1)}}
  %u = mtc.async_transfer #mtc.collective<all_gather, ranks = 2, pieces = [16], totals = [32], element = f32>
    [#mtc.at<512, tensor<16xf32>>] into [#mtc.at<0, tensor<32xf32>>] stream 3
}

// -----

// expected-error @below {{has 4 chunks in context groups of 3, expected a multiple (ranks_c4)}}
mtc.program "context" stage training ranks <count = 6, context_ranks = 3, context_chunks = 4> {}

// -----

func.func @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{expected another axis among the same ranks (reshard_c1)}}
  %y = mtc.reshard %x from <axis = 0, parts = 2> to <axis = 0, parts = 2> : tensor<8x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @f(%x: tensor<8x4xf32>) -> tensor<16x4xf32> {
  // expected-error @below {{which is no part of the tensor of which 'tensor<8x4xf32>' is one (reshard_c2)}}
  %y = mtc.reshard %x from <axis = 0, parts = 2> to <axis = 1, parts = 2> : tensor<8x4xf32> -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{2 ranks with pieces of 16 elements cannot hold 33 elements (collective_c1)}}
#small = #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 33, element = f32>

// -----

// expected-error @below {{0 ranks, expected at least 1 (ranks_c1)}}
mtc.program "m" stage training ranks <count = 0> {}

// -----

// expected-error @below {{has 5 micro-steps for 2 ranks, expected a multiple (program_c4)}}
mtc.program "m" stage training ranks <count = 2> accumulation <micro_steps = 5> {}

// -----

func.func @type(%a: tensor<8xf32>) {
  // expected-error @below {{has a value of 'tensor<8xf32>', but pieces of 'f64' (all_to_all_c1)}}
  %rows = mtc.all_to_all %a : tensor<8xf32> -> tensor<2x16xf64>
  return
}

// -----

func.func @rows(%a: tensor<8xf32>) {
  // expected-error @below {{has the result 'tensor<16xf32>', expected one row per rank (all_to_all_c1)}}
  %rows = mtc.all_to_all %a : tensor<8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @large(%a: tensor<16xf32>) {
  // expected-error @below {{has 2 pieces of 16 elements for 33 elements (all_gather_c1)}}
  %b = mtc.all_gather %a ranks 2 : tensor<16xf32> -> tensor<33xf32>
  return
}

// -----

mtc.step @sizes reads [] [] gives [] [] {
  // expected-error @below {{has slices of 24 elements of the flat tensor and of 16 of pieces, expected 24 and 32 (collective_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<128, tensor<16xf32>>]
}

// -----

mtc.step @element reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<0, tensor<24xf64>>, expected elements of 'f32' (collective_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf64>>] into [#mtc.at<256, tensor<2x16xf32>>]
}

// -----

mtc.step @space reads [] [] gives [] [] {
  // expected-error @below {{has the operand #mtc.at<0, tensor<24xf32>, host>, which is not on the device (collective_c3)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf32>, host>] into [#mtc.at<256, tensor<2x16xf32>>]
}

// -----

mtc.step @stream reads [] [] gives [] [] {
  // expected-error @below {{is on stream 0, expected 1 or more (collective_c4)}}
  %t = mtc.async_transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>] stream 0
}

// -----

mtc.step @race reads [] [] gives [] [] {
  // expected-note @below {{the transfer}}
  %t = mtc.async_transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>] stream 3
  // expected-error @below {{writes #mtc.at<64, tensor<8xf32>> while a transfer on stream 3 reads it; wait for the transfer's token (step_c1)}}
  mtc.copy #mtc.at<512, tensor<8xf32>> into #mtc.at<64, tensor<8xf32>>
}

// -----

mtc.arena size 256 live 256
mtc.step @arena reads [] [] gives [] [] {
  // expected-error @below {{has the slice #mtc.at<256, tensor<2x16xf32>>, but the arena of the space device has 256 bytes (step_c2)}}
  mtc.transfer #mtc.collective<all_to_all, ranks = 2, piece = 16, total = 24, element = f32>
    [#mtc.at<0, tensor<24xf32>>] into [#mtc.at<256, tensor<2x16xf32>>]
}

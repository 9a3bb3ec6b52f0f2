// One violation of each constraint of mtc.repeat.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

mtc.step @repeat_c1 reads [] [] gives [] [] {
  // expected-error @below {{has 0 iterations, expected 1 or more (repeat_c1)}}
  mtc.repeat 0 times [] into [] {
  }
}

// -----

mtc.step @repeat_c2_extent reads ["x"] [#mtc.at<0, tensor<4x16xf32>>] gives [] [] {
  mtc.repeat 5 times [#mtc.at<0, tensor<4x16xf32>>] into [] scratch 64 at 256 {
    // expected-error @below {{accesses #mtc.at<0, tensor<16xf32> by 64>, bytes 0 to 319 in all iterations, which are not within an operand of the repeat (repeat_c2)}}
    mtc.copy #mtc.at<0, tensor<16xf32> by 64> into #mtc.at<256, tensor<16xf32>>
  }
}

// -----

mtc.step @repeat_c2_reversed reads ["x"] [#mtc.at<64, tensor<4x16xf32>>] gives [] [] {
  mtc.repeat 4 times [#mtc.at<64, tensor<4x16xf32>>] into [] scratch 64 at 320 {
    // expected-error @below {{accesses #mtc.at<192, tensor<16xf32> by -64>, bytes 0 to 255 in all iterations}}
    mtc.copy #mtc.at<192, tensor<16xf32> by -64> into #mtc.at<320, tensor<16xf32>>
  }
}

// -----

mtc.step @repeat_c2_operation reads ["x"] [#mtc.at<0, tensor<16xf32>>] gives [] [] {
  mtc.repeat 2 times [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] {
    // expected-error @below {{is in a repeat, expected a launch, a call or a copy (repeat_c2)}}
    builtin.module {
    }
  }
}

// -----

mtc.step @step_c4 reads ["x"] [#mtc.at<0, tensor<16xf32>>] gives [] [] {
  mtc.repeat 2 times [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] scratch 128 at 128 until [1] {
    mtc.copy #mtc.at<0, tensor<16xf32>> into #mtc.at<128, tensor<16xf32>> until [2]
    // expected-error @below {{writes #mtc.at<128, tensor<16xf32>> over bytes 128 to 191, where a result of mtc.copy is live until operation 2, mtc.copy, has run (step_c4)}}
    mtc.copy #mtc.at<0, tensor<16xf32>> into #mtc.at<128, tensor<16xf32>> until [2]
    mtc.copy #mtc.at<128, tensor<16xf32>> into #mtc.at<64, tensor<16xf32>> until [-1]
  }
}

// -----

mtc.step @step_c5 reads ["x"] [#mtc.at<0, tensor<16xf32>>] gives [] [] {
  mtc.repeat 2 times [#mtc.at<0, tensor<16xf32>>] into [#mtc.at<64, tensor<16xf32>>] scratch 128 at 128 until [1] {
    // expected-error @below {{reads #mtc.at<128, tensor<16xf32>>, where no value is live (step_c5)}}
    mtc.copy #mtc.at<128, tensor<16xf32>> into #mtc.at<64, tensor<16xf32>> until [-1]
  }
}

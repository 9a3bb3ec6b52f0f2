// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func @softmax_cross_entropy_c1(%z: tensor<4x10xf32>, %t: tensor<5xi64>) {
  // expected-error @below {{labels have extents [5] and the loss [4], expected [4] for both (softmax_cross_entropy_c1)}}
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<5xi64> -> tensor<4xf32>
  return
}

// -----

func.func @softmax_cross_entropy_c1_rank(%z: tensor<f32>, %t: tensor<i64>) {
  // expected-error @below {{logits are 'tensor<f32>', expected classes along the last axis (softmax_cross_entropy_c1)}}
  %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<f32>, tensor<i64> -> tensor<f32>
  return
}

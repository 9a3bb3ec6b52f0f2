// RUN: mtc-opt %s -split-input-file -verify-diagnostics

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{'mtc.call' op has 1 inputs, but its library takes 2 (call_c1)}}
  mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8> [#mtc.at<0, tensor<4x8xf32>>] into [#mtc.at<192, tensor<4x2xf32>>]
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has 'tensor<4x8xf64>' among its inputs, expected 32 elements of f32 (call_c1)}}
  mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8> [#mtc.at<0, tensor<4x8xf64>>, #mtc.at<0, tensor<8x2xf32>>]
    into [#mtc.at<192, tensor<4x2xf32>>]
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has 'tensor<4x3xf32>' among its outputs, expected 8 elements of f32 (call_c1)}}
  mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8> [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<0, tensor<8x2xf32>>]
    into [#mtc.at<192, tensor<4x3xf32>>]
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has a batch of 11 axes and 0 addends, expected at most 10 and 2 (contraction_call_c1)}}
  mtc.call #mtc.contraction<type = f32, batch_rank = 11> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has a batch and sums, or an auxiliary result without gelu (contraction_call_c2)}}
  mtc.call #mtc.contraction<type = f32, activation = relu, has_auxiliary = 1> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{multiplies f32 by f32 as f32, adds f32 and bf16 and gives f32, expected one type, or wider types for the multiplication and sums of narrow floats (contraction_call_c3)}}
  mtc.call #mtc.contraction<type = f32, addend_types = [f32, bf16]> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{multiplies bf16 by f16 as bf16, adds bf16 and bf16 and gives bf16, expected one type, or wider types for the multiplication and sums of narrow floats (contraction_call_c3)}}
  mtc.call #mtc.contraction<type = bf16, rhs_type = f16> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{scales bf16, expected floats of 8 bits (contraction_call_c7)}}
  mtc.call #mtc.contraction<type = bf16, has_scales = 1> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has a stored operand with a batch, with f64, or of an unknown kind (contraction_call_c4)}}
  mtc.call #mtc.contraction<type = f32, batch_rank = 1, rhs_storage = nf4> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has an algorithm of convolutions, or one with a batch, an activation, sums or a stored operand (contraction_call_c5)}}
  mtc.call #mtc.contraction<type = f32, batch_rank = 1, algorithm = own_panels> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{packs operands, expected to read them as stored, own_panels or winograd (convolution_call_c5)}}
  mtc.call #mtc.convolution<type = f32, window_rank = 1, algorithm = packed_rhs> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{is by winograd, expected f32, one group, no activation, and 3x3 windows with stride and dilation 1 (convolution_call_c5)}}
  mtc.call #mtc.convolution<type = f32, window_rank = 2, groups = 1, kernel = [3, 3], strides = [2, 1], dilations = [1, 1], algorithm = winograd> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has an algorithm of convolutions, or one with a batch, an activation, sums or a stored operand (contraction_call_c5)}}
  mtc.call #mtc.contraction<type = f32, algorithm = winograd> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{multiplies f64 as f64, adds f64 and f64 and gives f32, expected one type, or wider types for the multiplication and sums of narrow floats (convolution_call_c4)}}
  mtc.call #mtc.convolution<type = f64, result_type = f32, window_rank = 1> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has windows along 4 axes, expected 1 to 3 (convolution_call_c1)}}
  mtc.call #mtc.convolution<type = f32, window_rank = 4> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{applies gelu, expected relu or nothing (convolution_call_c2)}}
  mtc.call #mtc.convolution<type = f32, window_rank = 1, activation = gelu> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has an epilogue, which only a convolution has (convolution_call_c3)}}
  mtc.call #mtc.transposed_convolution<type = f32, window_rank = 1, has_bias = 1> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has an epilogue, which only a convolution has (convolution_call_c3)}}
  mtc.call #mtc.convolution_weight_gradient<type = f32, window_rank = 1, activation = relu> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has 3 heads of queries and 2 of keys, expected a multiple (attention_call_c1)}}
  mtc.call #mtc.attention<type = f32, heads = 3, key_heads = 2> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{has 3 steps of gru, expected at least one step, and d_auxiliary only for the gradient of lstm (recurrence_call_c1)}}
  mtc.call #mtc.recurrence_gradient<type = f32, cell = gru, has_d_auxiliary = 1, steps = 3> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{a call of this kind has no 'width'}}
  // expected-error @below {{failed to parse}}
  mtc.call #mtc.contraction<width = 3> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{'relux' is no activation}}
  // expected-error @below {{failed to parse}}
  mtc.call #mtc.contraction<type = f32, activation = relux> [] into []
}

// -----

mtc.step @f reads [] [] gives [] [] {
  // expected-error @below {{query has at most 4 elements}}
  // expected-error @below {{failed to parse}}
  mtc.call #mtc.attention<type = f32, query = [1, 2, 3, 4, 5]> [] into []
}

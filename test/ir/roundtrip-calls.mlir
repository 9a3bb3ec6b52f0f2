// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// Fields that are 0 are omitted, and so are zeros at the end of a list.
// CHECK: mtc.call #mtc.contraction<type = f32, m = 4, n = 2, k = 8, lhs_strides = [8, 1], rhs_strides = [2, 1], out_strides = [2, 1]> [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<128, tensor<8x2xf32>>] into [#mtc.at<192, tensor<4x2xf32>>]{{$}}
// CHECK: mtc.call #mtc.contraction<type = f64, batch_rank = 1, batch = [2], m = 1, n = 2, k = 2, lhs_strides = [2, 0, 1], rhs_strides = [4, 2, 1], out_strides = [2, 2, 1], addend_count = 2, addend_strides = {{\[\[\]}}, [0, 1]], activation = gelu_gradient> {{.*}} scratch 64 at 1024
// CHECK: mtc.call #mtc.contraction<{{.*}}, accumulate = 1, activation = gelu, has_auxiliary = 1, summed = rhs>
// CHECK: mtc.call #mtc.attention<type = f16, has_bias = 1, is_causal = 1, causal_offset = -1, batch = 1, heads = 2, key_heads = 1, queries = 2, keys = 2, width = 8, value_width = 8, scale = 1.250000e-01, query = [32, 16, 8, 1], key = [16, 16, 8, 1], value = [16, 16, 8, 1], bias = [0, 0, 2, 1], out = [32, 16, 8, 1]>
// CHECK: mtc.call #mtc.attention_gradient<{{.*}} scale = 1.000000e-01
// CHECK: mtc.call #mtc.convolution<type = f32, window_rank = 2, batch = 1, groups = 2, input_channels = 2, output_channels = 1, input = [3, 4], output = [3, 2], kernel = [3, 2], strides = [1, 2], dilations = [1, 1], before = [1]> [
// CHECK: mtc.call #mtc.transposed_convolution<type = f32, window_rank = 2
// CHECK: mtc.call #mtc.convolution_weight_gradient<type = f32, window_rank = 2
// CHECK: mtc.call #mtc.convolution<type = f32, {{.*}}, has_bias = 1, has_addend = 1, activation = relu>
// CHECK: mtc.call #mtc.recurrence<type = f32, cell = gru, is_reversed = 1, steps = 2, batch = 1, hidden = 2> [
// CHECK: mtc.call #mtc.recurrence_gradient<type = f32, cell = tanh, is_in_place = 1, steps = 2, batch = 1, hidden = 2> [
module {
  mtc.step @f reads [] [] gives [] [] {
    mtc.call #mtc.contraction<out_strides = [2, 1, 0], type = f32, m = 4, n = 2, k = 8, rhs_strides = [2, 1], lhs_strides = [8, 1]>
      [#mtc.at<0, tensor<4x8xf32>>, #mtc.at<128, tensor<8x2xf32>>] into [#mtc.at<192, tensor<4x2xf32>>]
    mtc.call #mtc.contraction<type = f64, batch_rank = 1, batch = [2], m = 1, n = 2, k = 2, lhs_strides = [2, 0, 1],
                              rhs_strides = [4, 2, 1], out_strides = [2, 2, 1], addend_count = 2, addend_strides = [[], [0, 1]],
                              activation = gelu_gradient>
      [#mtc.at<0, tensor<2x1x2xf64>>, #mtc.at<64, tensor<2x2x2xf64>>, #mtc.at<128, tensor<2x1x2xf64>>,
       #mtc.at<128, tensor<2x1x2xf64>>, #mtc.at<192, tensor<2x1x2xf64>>]
      into [#mtc.at<256, tensor<2x1x2xf64>>] scratch 64 at 1024
    mtc.call #mtc.contraction<type = f32, m = 1, n = 2, k = 2, lhs_strides = [0, 1], rhs_strides = [2, 1], out_strides = [2, 1],
                              accumulate = 1, activation = gelu, has_auxiliary = 1, summed = rhs>
      [#mtc.at<0, tensor<1x2xf32>>, #mtc.at<64, tensor<2x2xf32>>]
      into [#mtc.at<256, tensor<1x2xf32>>, #mtc.at<320, tensor<1x2xf32>>, #mtc.at<384, tensor<2xf32>>]
    mtc.call #mtc.attention<type = f16, has_bias = 1, is_causal = 1, causal_offset = -1, batch = 1, heads = 2, key_heads = 1,
                            queries = 2, keys = 2, width = 8, value_width = 8, scale = 0.125, query = [32, 16, 8, 1],
                            key = [16, 16, 8, 1], value = [16, 16, 8, 1], bias = [0, 0, 2, 1], out = [32, 16, 8, 1]>
      [#mtc.at<0, tensor<1x2x2x8xf16>>, #mtc.at<64, tensor<1x1x2x8xf16>>, #mtc.at<128, tensor<1x1x2x8xf16>>,
       #mtc.at<192, tensor<1x1x2x2xf16>>]
      into [#mtc.at<256, tensor<1x2x2x8xf16>>, #mtc.at<320, tensor<1x2x2xf32>>]
    mtc.call #mtc.attention_gradient<type = f32, batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, width = 1,
                                     value_width = 1, scale = 0.1>
      [#mtc.at<0, tensor<1x1x1x1xf32>>, #mtc.at<0, tensor<1x1x1x1xf32>>, #mtc.at<0, tensor<1x1x1x1xf32>>,
       #mtc.at<0, tensor<1x1x1xf32>>, #mtc.at<0, tensor<1x1x1xf32>>, #mtc.at<0, tensor<1x1x1x1xf32>>]
      into [#mtc.at<64, tensor<1x1x1x1xf32>>, #mtc.at<64, tensor<1x1x1x1xf32>>, #mtc.at<64, tensor<1x1x1x1xf32>>]
    mtc.call #mtc.convolution<type = f32, window_rank = 2, batch = 1, groups = 2, input_channels = 2, output_channels = 1,
                     input = [3, 4], output = [3, 2], kernel = [3, 2], strides = [1, 2], dilations = [1, 1], before = [1, 0]>
      [#mtc.at<0, tensor<1x3x4x4xf32>>, #mtc.at<256, tensor<2x2x3x2xf32>>] into [#mtc.at<512, tensor<1x3x2x2xf32>>]
    mtc.call #mtc.transposed_convolution<type = f32, window_rank = 2, batch = 1, groups = 2, input_channels = 2, output_channels = 1,
                     input = [3, 4], output = [3, 2], kernel = [3, 2], strides = [1, 2], dilations = [1, 1], before = [1, 0]>
      [#mtc.at<0, tensor<1x3x2x2xf32>>, #mtc.at<256, tensor<2x2x3x2xf32>>] into [#mtc.at<512, tensor<1x3x4x4xf32>>]
    mtc.call #mtc.convolution_weight_gradient<type = f32, window_rank = 2, batch = 1, groups = 2, input_channels = 2, output_channels = 1,
                     input = [3, 4], output = [3, 2], kernel = [3, 2], strides = [1, 2], dilations = [1, 1], before = [1, 0]>
      [#mtc.at<0, tensor<1x3x4x4xf32>>, #mtc.at<256, tensor<1x3x2x2xf32>>] into [#mtc.at<512, tensor<2x2x3x2xf32>>]
    mtc.call #mtc.convolution<type = f32, window_rank = 1, batch = 1, groups = 1, input_channels = 2, output_channels = 2,
                     input = [3], output = [3], kernel = [1], strides = [1], dilations = [1], has_bias = 1, has_addend = 1,
                     activation = relu>
      [#mtc.at<0, tensor<1x3x2xf32>>, #mtc.at<64, tensor<2x2x1xf32>>, #mtc.at<128, tensor<2xf32>>,
       #mtc.at<192, tensor<1x3x2xf32>>] into [#mtc.at<256, tensor<1x3x2xf32>>]
    mtc.call #mtc.recurrence<type = f32, cell = gru, is_reversed = 1, steps = 2, batch = 1, hidden = 2>
      [#mtc.at<0, tensor<2x1x6xf32>>, #mtc.at<64, tensor<6x2xf32>>, #mtc.at<128, tensor<1x2xf32>>]
      into [#mtc.at<192, tensor<2x1x6xf32>>, #mtc.at<256, tensor<2x1x2xf32>>, #mtc.at<320, tensor<2x1x2xf32>>]
    mtc.call #mtc.recurrence_gradient<type = f32, cell = tanh, is_in_place = 1, steps = 2, batch = 1, hidden = 2>
      [#mtc.at<64, tensor<2x2xf32>>, #mtc.at<128, tensor<2x1x2xf32>>, #mtc.at<192, tensor<1x2xf32>>,
       #mtc.at<256, tensor<2x1x2xf32>>]
      into [#mtc.at<0, tensor<2x1x2xf32>>, #mtc.at<320, tensor<1x2xf32>>]
  }
}

// Contractions and convolutions of 16-bit elements, whose results and addends may be f32.
// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @contract
func.func @contract(%a: tensor<4x8xbf16>, %b: tensor<8x5xbf16>, %c: tensor<4x5xf32>, %d: tensor<4x5xbf16>)
    -> (tensor<4x5xf32>, tensor<4x5xbf16>) {
  // CHECK: mtc.contract {{.*}} : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf32>
  %y = mtc.contract %a, %b batch [] x [] over [1] x [0] : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xf32>
  // CHECK: mtc.fused_contract {{.*}} adding %{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<4x5xbf16> : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xbf16>
  %z = mtc.fused_contract %a, %b batch [] x [] over [1] x [0] adding %c, %d : tensor<4x5xf32>, tensor<4x5xbf16>
         : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xbf16>
  return %y, %z : tensor<4x5xf32>, tensor<4x5xbf16>
}

// CHECK-LABEL: func.func @convolve
func.func @convolve(%x: tensor<2x8x3xf16>, %w: tensor<4x3x3xf16>, %d: tensor<2x6x4xf16>, %b: tensor<2x6x4xf32>)
    -> (tensor<2x6x4xf32>, tensor<4x3x3xf32>, tensor<2x8x3xf32>, tensor<2x6x4xf16>) {
  // CHECK: mtc.convolve {{.*}} -> tensor<2x6x4xf32>
  %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<2x8x3xf16>, tensor<4x3x3xf16>) -> tensor<2x6x4xf32>
  // CHECK: mtc.convolve_weight_gradient {{.*}} -> tensor<4x3x3xf32>
  %dw = mtc.convolve_weight_gradient %x, %d before [0] strides [1] dilations [1] : (tensor<2x8x3xf16>, tensor<2x6x4xf16>) -> tensor<4x3x3xf32>
  // CHECK: mtc.transposed_convolve {{.*}} -> tensor<2x8x3xf32>
  %dx = mtc.transposed_convolve %d, %w before [0] strides [1] dilations [1] : (tensor<2x6x4xf16>, tensor<4x3x3xf16>) -> tensor<2x8x3xf32>
  // CHECK: mtc.fused_convolve {{.*}} bias %{{.*}} : tensor<2x6x4xf32> adding %{{.*}} : tensor<2x6x4xf16> {{.*}} -> tensor<2x6x4xf16>
  %z = mtc.fused_convolve %x, %w bias %b : tensor<2x6x4xf32> adding %d : tensor<2x6x4xf16> before [0] strides [1] dilations [1]
         : tensor<2x8x3xf16>, tensor<4x3x3xf16> -> tensor<2x6x4xf16>
  return %y, %dw, %dx, %z : tensor<2x6x4xf32>, tensor<4x3x3xf32>, tensor<2x8x3xf32>, tensor<2x6x4xf16>
}

// CHECK: mtc.call #mtc.contraction<type = bf16, out_type = f32, addend_types = [bf16, f32], product_type = f32, {{.*}}, accumulate = 1, addend_count = 1, addend_strides = {{.*}}>
// CHECK: mtc.call #mtc.convolution<type = f16, result_type = f32, bias_type = f32, product_type = f32, {{.*}}, has_bias = 1>
module {
  mtc.step @f reads [] [] gives [] [] {
    mtc.call #mtc.contraction<type = bf16, out_type = f32, addend_types = [bf16, f32], product_type = f32, m = 4, n = 2, k = 8,
                              lhs_strides = [8, 1], rhs_strides = [2, 1], out_strides = [2, 1], accumulate = 1, addend_count = 1,
                              addend_strides = [[0, 1]]>
      [#mtc.at<0, tensor<4x8xbf16>>, #mtc.at<64, tensor<8x2xbf16>>, #mtc.at<128, tensor<2xbf16>>] into [#mtc.at<192, tensor<4x2xf32>>]
    mtc.call #mtc.convolution<type = f16, window_rank = 1, batch = 1, groups = 1, input_channels = 2, output_channels = 4, input = [3],
                              output = [3], kernel = [1], strides = [1], dilations = [1], has_bias = 1, result_type = f32, bias_type = f32,
                              product_type = f32>
      [#mtc.at<0, tensor<1x3x2xf16>>, #mtc.at<64, tensor<4x2x1xf16>>, #mtc.at<128, tensor<4xf32>>] into [#mtc.at<192, tensor<1x3x4xf32>>]
  }
}

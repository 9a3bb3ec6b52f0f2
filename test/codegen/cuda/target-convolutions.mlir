// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda},mtc-decompose,mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s --check-prefixes=CHECK,CUDNN
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda without=cudnn},mtc-decompose,mtc-kernel-pipeline,mtc-allocate)' | FileCheck %s --check-prefixes=CHECK,NONE

// cuDNN computes convolutions and their adjoints, with workspace for copies of the tensors and for partial sums of weights; without cuDNN they are
// contractions of windows.
// CHECK-LABEL: mtc.step @f
// CUDNN-NEXT: mtc.call #mtc.convolution<type = f32, {{.*}}> [{{.*}}] into [{{.*}}] scratch 13184 at
// CUDNN-NEXT: mtc.call #mtc.convolution_weight_gradient<type = f32, {{.*}}> [{{.*}}] into [{{.*}}] scratch 19904 at
// CUDNN-NEXT: mtc.call #mtc.transposed_convolution<type = f32, {{.*}}> [{{.*}}] into [{{.*}}] scratch 13184 at
// NONE-NOT: convolution
// NONE-COUNT-3: mtc.call #mtc.contraction
module {
  func.func @f(%x: tensor<1x15x15x3xf32> {mtc.name = "x"}, %w: tensor<16x3x3x3xf32> {mtc.name = "w"})
      -> (tensor<16x3x3x3xf32> {mtc.name = "dw"}, tensor<1x15x15x3xf32> {mtc.name = "dx"}) {
    %y = mtc.convolve %x, %w before [0, 0] strides [2, 2] dilations [1, 1] : (tensor<1x15x15x3xf32>, tensor<16x3x3x3xf32>) -> tensor<1x7x7x16xf32>
    %dw = mtc.convolve_weight_gradient %x, %y before [0, 0] strides [2, 2] dilations [1, 1] : (tensor<1x15x15x3xf32>, tensor<1x7x7x16xf32>) -> tensor<16x3x3x3xf32>
    %dx = mtc.transposed_convolve %y, %w before [0, 0] strides [2, 2] dilations [1, 1] : (tensor<1x7x7x16xf32>, tensor<16x3x3x3xf32>) -> tensor<1x15x15x3xf32>
    return %dw, %dx : tensor<16x3x3x3xf32>, tensor<1x15x15x3xf32>
  }
}

// -----

// cuDNN has no convolutions in f64, and none with negative padding.
// CHECK-LABEL: mtc.step @g
// CHECK-NOT: convolution
module {
  func.func @g(%x: tensor<1x9x4xf64> {mtc.name = "x"}, %w: tensor<8x4x3xf64> {mtc.name = "w"}, %u: tensor<1x9x4xf32> {mtc.name = "u"}, %v: tensor<8x4x3xf32> {mtc.name = "v"})
      -> (tensor<1x7x8xf64> {mtc.name = "y"}, tensor<1x5x8xf32> {mtc.name = "z"}) {
    %y = mtc.convolve %x, %w before [0] strides [1] dilations [1] : (tensor<1x9x4xf64>, tensor<8x4x3xf64>) -> tensor<1x7x8xf64>
    %z = mtc.convolve %u, %v before [2] strides [1] dilations [1] : (tensor<1x9x4xf32>, tensor<8x4x3xf32>) -> tensor<1x5x8xf32>
    return %y, %z : tensor<1x7x8xf64>, tensor<1x5x8xf32>
  }
}

// Kernels of windows, alone and fused into their users, are compared with the interpreter on both targets.
// RUN: mtc-opt %s -pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-allocate)' -o %t
// RUN: mtc-run --check --tolerance 5e-6 %t | FileCheck %s
// RUN: mtc-run --target cuda --emulate --check --tolerance 5e-6 %t | FileCheck %s
// RUN: env MTC_EMULATED_ORDER=reversed mtc-run --target cuda --emulate --check --tolerance 5e-6 %t | FileCheck %s
// CHECK-COUNT-10: {{@kernel_.* ok}}
// CHECK-NOT: @kernel_

func.func @windows(%x: tensor<2x9x20xf32>) -> tensor<2x4x9x3x2xf32> {
  %y = mtc.windows %x axes [1, 2] strides [2, 2] dilations [1, 3] : tensor<2x9x20xf32> -> tensor<2x4x9x3x2xf32>
  return %y : tensor<2x4x9x3x2xf32>
}

// Padding is a separate kernel, whose result the windows use.
func.func @padded(%x: tensor<3x33xf16>) -> tensor<3x33x3xf16> {
  %p = mtc.pad %x low [0, 1] high [0, 1] interior [0, 0] value 1.0 : f16 : tensor<3x33xf16> -> tensor<3x35xf16>
  %y = mtc.windows %p axes [1] strides [1] dilations [1] : tensor<3x35xf16> -> tensor<3x33x3xf16>
  return %y : tensor<3x33x3xf16>
}

// Windows are fused into a reduction of their taps.
func.func @pooled(%x: tensor<2x17x18xf32>) -> tensor<2x8x8xf32> {
  %w = mtc.windows %x axes [1, 2] strides [2, 2] dilations [1, 1] : tensor<2x17x18xf32> -> tensor<2x8x8x3x3xf32>
  %y = mtc.reduce max %w axes [3, 4] : tensor<2x8x8x3x3xf32> -> tensor<2x8x8xf32>
  return %y : tensor<2x8x8xf32>
}

func.func @overlap(%y: tensor<2x15x17x3x3xf32>) -> tensor<2x15x17xf32> {
  %x = mtc.overlap_add %y axes [1, 2] offsets [1, 1] strides [1, 1] dilations [1, 1] : tensor<2x15x17x3x3xf32> -> tensor<2x15x17xf32>
  return %x : tensor<2x15x17xf32>
}

func.func @strided(%y: tensor<2x9x8x3x3xf32>) -> tensor<2x19x16xf32> {
  %x = mtc.overlap_add %y axes [1, 2] offsets [0, 1] strides [2, 2] dilations [1, 1] : tensor<2x9x8x3x3xf32> -> tensor<2x19x16xf32>
  return %x : tensor<2x19x16xf32>
}

func.func @coprime(%y: tensor<5x9x3xbf16>) -> tensor<5x30xbf16> {
  %x = mtc.overlap_add %y axes [1] offsets [0] strides [3] dilations [2] : tensor<5x9x3xbf16> -> tensor<5x30xbf16>
  return %x : tensor<5x30xbf16>
}

func.func @common_divisor(%y: tensor<5x9x3xf32>) -> tensor<5x50xf32> {
  %x = mtc.overlap_add %y axes [1] offsets [0] strides [4] dilations [6] : tensor<5x9x3xf32> -> tensor<5x50xf32>
  return %x : tensor<5x50xf32>
}

// Summands are computed where they are used.
func.func @computed(%y: tensor<2x33xf32>, %w: tensor<3xf32>) -> tensor<2x33xf32> {
  %a = mtc.broadcast %y axes [2] : tensor<2x33xf32> -> tensor<2x33x3xf32>
  %b = mtc.broadcast %w axes [0, 1] : tensor<3xf32> -> tensor<2x33x3xf32>
  %c = mtc.mul %a, %b : tensor<2x33x3xf32>
  %x = mtc.overlap_add %c axes [1] offsets [1] strides [1] dilations [1] : tensor<2x33x3xf32> -> tensor<2x33xf32>
  return %x : tensor<2x33xf32>
}

// Elements after the last window are zero.
func.func @gaps(%y: tensor<40x2xi64>) -> tensor<210xi64> {
  %x = mtc.overlap_add %y axes [0] offsets [1] strides [5] dilations [1] : tensor<40x2xi64> -> tensor<210xi64>
  return %x : tensor<210xi64>
}

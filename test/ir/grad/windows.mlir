// Windows and overlap-add are each other's gradient.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @windows_vjp
// CHECK-NEXT: mtc.overlap_add %arg1 axes [1] offsets [0] strides [1] dilations [1] : tensor<2x4x3xf64> -> tensor<2x7xf64>
func.func @windows(%x: tensor<2x7xf64>) -> tensor<2x4x3xf64> {
  %y = mtc.windows %x axes [1] strides [1] dilations [1] : tensor<2x7xf64> -> tensor<2x4x3xf64>
  return %y : tensor<2x4x3xf64>
}

func.func @strided(%x: tensor<8x7xf64>) -> tensor<3x3x3x2xf64> {
  %y = mtc.windows %x axes [0, 1] strides [2, 2] dilations [1, 2] : tensor<8x7xf64> -> tensor<3x3x3x2xf64>
  return %y : tensor<3x3x3x2xf64>
}

func.func @coprime(%x: tensor<12xf64>) -> tensor<3x3xf64> {
  %y = mtc.windows %x axes [0] strides [3] dilations [2] : tensor<12xf64> -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @common_divisor(%x: tensor<27xf64>) -> tensor<3x3xf64> {
  %y = mtc.windows %x axes [0] strides [4] dilations [6] : tensor<27xf64> -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

// Gaps between windows, and rows after the last one, have no gradient.
func.func @gaps(%x: tensor<9xf64>) -> tensor<2x2xf64> {
  %y = mtc.windows %x axes [0] strides [5] dilations [1] : tensor<9xf64> -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// While windows are summed, the gradient of the padding is left out.
// CHECK-LABEL: func.func @padded_vjp
// CHECK-NEXT: mtc.overlap_add %arg1 axes [0] offsets [1] strides [1] dilations [1] : tensor<4x3xf64> -> tensor<4xf64>
func.func @padded(%x: tensor<4xf64>) -> tensor<4x3xf64> {
  %p = mtc.pad %x low [1] high [1] interior [0] value 0.0 : f64 : tensor<4xf64> -> tensor<6xf64>
  %y = mtc.windows %p axes [0] strides [1] dilations [1] : tensor<6xf64> -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

// CHECK-LABEL: func.func @overlap_add_vjp
// CHECK-NEXT: %[[P:.*]] = mtc.pad %arg1 low [1] high [1] interior [0] value 0.000000e+00 : f64 : tensor<5xf64> -> tensor<7xf64>
// CHECK-NEXT: mtc.windows %[[P]] axes [0] strides [2] dilations [1] : tensor<7xf64> -> tensor<3x3xf64>
func.func @overlap_add(%y: tensor<3x3xf64>) -> tensor<5xf64> {
  %x = mtc.overlap_add %y axes [0] offsets [1] strides [2] dilations [1] : tensor<3x3xf64> -> tensor<5xf64>
  return %x : tensor<5xf64>
}

// Elements after the last window are zero for any operand.
func.func @overlap_add_beyond(%y: tensor<2x3x2x2xf64>) -> tensor<6x7xf64> {
  %x = mtc.overlap_add %y axes [0, 1] offsets [0, 0] strides [1, 2] dilations [2, 1] : tensor<2x3x2x2xf64> -> tensor<6x7xf64>
  return %x : tensor<6x7xf64>
}

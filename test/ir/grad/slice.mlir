// The cotangent is padded with zeros to the operand's shape.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @slice_vjp
// CHECK-NEXT: mtc.pad %arg1 low [1, 0] high [0, 1] interior [0, 2] value 0.000000e+00 : f64 : tensor<2x2xf64> -> tensor<3x5xf64>
func.func @slice(%x: tensor<3x5xf64>) -> tensor<2x2xf64> {
  %y = mtc.slice %x offsets [1, 0] strides [1, 3] : tensor<3x5xf64> -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// With a single element along an axis, the stride has no effect.
func.func @slice_one(%x: tensor<5xf64>) -> tensor<1xf64> {
  %y = mtc.slice %x offsets [2] strides [100] : tensor<5xf64> -> tensor<1xf64>
  return %y : tensor<1xf64>
}

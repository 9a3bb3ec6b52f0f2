// The gradient is a slice of the cotangent.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @pad_vjp
// CHECK-NEXT: mtc.slice %arg1 offsets [1, 0] strides [1, 3] : tensor<4x7xf64> -> tensor<2x3xf64>
func.func @pad(%x: tensor<2x3xf64>) -> tensor<4x7xf64> {
  %y = mtc.pad %x low [1, 0] high [1, 0] interior [0, 2] value 5.0 : f64 : tensor<2x3xf64> -> tensor<4x7xf64>
  return %y : tensor<4x7xf64>
}

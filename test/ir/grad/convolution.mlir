// Each of the three operations on a convolution's windows is the gradient of the others.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @convolve_plain_vjp
// CHECK-DAG: mtc.transposed_convolve %arg2, %arg1
// CHECK-DAG: mtc.convolve_weight_gradient %arg0, %arg2
// CHECK-LABEL: func.func @transposed_convolve_plain_vjp
// CHECK-DAG: mtc.convolve %arg2, %arg1
// CHECK-DAG: mtc.convolve_weight_gradient %arg2, %arg0
// CHECK-LABEL: func.func @convolve_weight_gradient_plain_vjp
// CHECK-DAG: mtc.transposed_convolve %arg1, %arg2
// CHECK-DAG: mtc.convolve %arg0, %arg2

func.func @convolve_plain(%a: tensor<2x6x5x3xf64>, %b: tensor<4x3x3x2xf64>) -> tensor<2x4x4x4xf64> {
  %r = mtc.convolve %a, %b before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x6x5x3xf64>, tensor<4x3x3x2xf64>) -> tensor<2x4x4x4xf64>
  return %r : tensor<2x4x4x4xf64>
}

func.func @transposed_convolve_plain(%a: tensor<2x4x4x4xf64>, %b: tensor<4x3x3x2xf64>) -> tensor<2x6x5x3xf64> {
  %r = mtc.transposed_convolve %a, %b before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x4x4x4xf64>, tensor<4x3x3x2xf64>) -> tensor<2x6x5x3xf64>
  return %r : tensor<2x6x5x3xf64>
}

func.func @convolve_weight_gradient_plain(%a: tensor<2x6x5x3xf64>, %b: tensor<2x4x4x4xf64>) -> tensor<4x3x3x2xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [0, 0] strides [1, 1] dilations [1, 1] : (tensor<2x6x5x3xf64>, tensor<2x4x4x4xf64>) -> tensor<4x3x3x2xf64>
  return %r : tensor<4x3x3x2xf64>
}

func.func @convolve_padded(%a: tensor<2x5x4x3xf64>, %b: tensor<2x3x3x3xf64>) -> tensor<2x3x6x2xf64> {
  %r = mtc.convolve %a, %b before [1, 2] strides [2, 1] dilations [1, 1] : (tensor<2x5x4x3xf64>, tensor<2x3x3x3xf64>) -> tensor<2x3x6x2xf64>
  return %r : tensor<2x3x6x2xf64>
}

func.func @transposed_convolve_padded(%a: tensor<2x3x6x2xf64>, %b: tensor<2x3x3x3xf64>) -> tensor<2x5x4x3xf64> {
  %r = mtc.transposed_convolve %a, %b before [1, 2] strides [2, 1] dilations [1, 1] : (tensor<2x3x6x2xf64>, tensor<2x3x3x3xf64>) -> tensor<2x5x4x3xf64>
  return %r : tensor<2x5x4x3xf64>
}

func.func @convolve_weight_gradient_padded(%a: tensor<2x5x4x3xf64>, %b: tensor<2x3x6x2xf64>) -> tensor<2x3x3x3xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [1, 2] strides [2, 1] dilations [1, 1] : (tensor<2x5x4x3xf64>, tensor<2x3x6x2xf64>) -> tensor<2x3x3x3xf64>
  return %r : tensor<2x3x3x3xf64>
}

func.func @convolve_dilated(%a: tensor<1x9x2xf64>, %b: tensor<3x2x3xf64>) -> tensor<1x4x3xf64> {
  %r = mtc.convolve %a, %b before [1] strides [2] dilations [2] : (tensor<1x9x2xf64>, tensor<3x2x3xf64>) -> tensor<1x4x3xf64>
  return %r : tensor<1x4x3xf64>
}

func.func @transposed_convolve_dilated(%a: tensor<1x4x3xf64>, %b: tensor<3x2x3xf64>) -> tensor<1x9x2xf64> {
  %r = mtc.transposed_convolve %a, %b before [1] strides [2] dilations [2] : (tensor<1x4x3xf64>, tensor<3x2x3xf64>) -> tensor<1x9x2xf64>
  return %r : tensor<1x9x2xf64>
}

func.func @convolve_weight_gradient_dilated(%a: tensor<1x9x2xf64>, %b: tensor<1x4x3xf64>) -> tensor<3x2x3xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [1] strides [2] dilations [2] : (tensor<1x9x2xf64>, tensor<1x4x3xf64>) -> tensor<3x2x3xf64>
  return %r : tensor<3x2x3xf64>
}

func.func @convolve_beyond(%a: tensor<2x5x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<2x3x2xf64> {
  %r = mtc.convolve %a, %b before [0] strides [3] dilations [1] : (tensor<2x5x2xf64>, tensor<2x2x2xf64>) -> tensor<2x3x2xf64>
  return %r : tensor<2x3x2xf64>
}

func.func @transposed_convolve_beyond(%a: tensor<2x3x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<2x5x2xf64> {
  %r = mtc.transposed_convolve %a, %b before [0] strides [3] dilations [1] : (tensor<2x3x2xf64>, tensor<2x2x2xf64>) -> tensor<2x5x2xf64>
  return %r : tensor<2x5x2xf64>
}

func.func @convolve_weight_gradient_beyond(%a: tensor<2x5x2xf64>, %b: tensor<2x3x2xf64>) -> tensor<2x2x2xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [0] strides [3] dilations [1] : (tensor<2x5x2xf64>, tensor<2x3x2xf64>) -> tensor<2x2x2xf64>
  return %r : tensor<2x2x2xf64>
}

func.func @convolve_unread(%a: tensor<1x9x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<1x2x2xf64> {
  %r = mtc.convolve %a, %b before [0] strides [4] dilations [1] : (tensor<1x9x2xf64>, tensor<2x2x2xf64>) -> tensor<1x2x2xf64>
  return %r : tensor<1x2x2xf64>
}

func.func @transposed_convolve_unread(%a: tensor<1x2x2xf64>, %b: tensor<2x2x2xf64>) -> tensor<1x9x2xf64> {
  %r = mtc.transposed_convolve %a, %b before [0] strides [4] dilations [1] : (tensor<1x2x2xf64>, tensor<2x2x2xf64>) -> tensor<1x9x2xf64>
  return %r : tensor<1x9x2xf64>
}

func.func @convolve_weight_gradient_unread(%a: tensor<1x9x2xf64>, %b: tensor<1x2x2xf64>) -> tensor<2x2x2xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [0] strides [4] dilations [1] : (tensor<1x9x2xf64>, tensor<1x2x2xf64>) -> tensor<2x2x2xf64>
  return %r : tensor<2x2x2xf64>
}

func.func @convolve_groups(%a: tensor<2x5x6xf64>, %b: tensor<6x2x3xf64>) -> tensor<2x5x6xf64> {
  %r = mtc.convolve %a, %b groups 3 before [1] strides [1] dilations [1] : (tensor<2x5x6xf64>, tensor<6x2x3xf64>) -> tensor<2x5x6xf64>
  return %r : tensor<2x5x6xf64>
}

func.func @transposed_convolve_groups(%a: tensor<2x5x6xf64>, %b: tensor<6x2x3xf64>) -> tensor<2x5x6xf64> {
  %r = mtc.transposed_convolve %a, %b groups 3 before [1] strides [1] dilations [1] : (tensor<2x5x6xf64>, tensor<6x2x3xf64>) -> tensor<2x5x6xf64>
  return %r : tensor<2x5x6xf64>
}

func.func @convolve_weight_gradient_groups(%a: tensor<2x5x6xf64>, %b: tensor<2x5x6xf64>) -> tensor<6x2x3xf64> {
  %r = mtc.convolve_weight_gradient %a, %b groups 3 before [1] strides [1] dilations [1] : (tensor<2x5x6xf64>, tensor<2x5x6xf64>) -> tensor<6x2x3xf64>
  return %r : tensor<6x2x3xf64>
}

func.func @convolve_depthwise(%a: tensor<2x5x4x4xf64>, %b: tensor<4x1x3x2xf64>) -> tensor<2x5x2x4xf64> {
  %r = mtc.convolve %a, %b groups 4 before [1, 0] strides [1, 2] dilations [1, 1] : (tensor<2x5x4x4xf64>, tensor<4x1x3x2xf64>) -> tensor<2x5x2x4xf64>
  return %r : tensor<2x5x2x4xf64>
}

func.func @transposed_convolve_depthwise(%a: tensor<2x5x2x4xf64>, %b: tensor<4x1x3x2xf64>) -> tensor<2x5x4x4xf64> {
  %r = mtc.transposed_convolve %a, %b groups 4 before [1, 0] strides [1, 2] dilations [1, 1] : (tensor<2x5x2x4xf64>, tensor<4x1x3x2xf64>) -> tensor<2x5x4x4xf64>
  return %r : tensor<2x5x4x4xf64>
}

func.func @convolve_weight_gradient_depthwise(%a: tensor<2x5x4x4xf64>, %b: tensor<2x5x2x4xf64>) -> tensor<4x1x3x2xf64> {
  %r = mtc.convolve_weight_gradient %a, %b groups 4 before [1, 0] strides [1, 2] dilations [1, 1] : (tensor<2x5x4x4xf64>, tensor<2x5x2x4xf64>) -> tensor<4x1x3x2xf64>
  return %r : tensor<4x1x3x2xf64>
}

func.func @convolve_depthwise_twofold(%a: tensor<2x6x3xf64>, %b: tensor<6x1x3xf64>) -> tensor<2x3x6xf64> {
  %r = mtc.convolve %a, %b groups 3 before [1] strides [2] dilations [1] : (tensor<2x6x3xf64>, tensor<6x1x3xf64>) -> tensor<2x3x6xf64>
  return %r : tensor<2x3x6xf64>
}

func.func @transposed_convolve_depthwise_twofold(%a: tensor<2x3x6xf64>, %b: tensor<6x1x3xf64>) -> tensor<2x6x3xf64> {
  %r = mtc.transposed_convolve %a, %b groups 3 before [1] strides [2] dilations [1] : (tensor<2x3x6xf64>, tensor<6x1x3xf64>) -> tensor<2x6x3xf64>
  return %r : tensor<2x6x3xf64>
}

func.func @convolve_weight_gradient_depthwise_twofold(%a: tensor<2x6x3xf64>, %b: tensor<2x3x6xf64>) -> tensor<6x1x3xf64> {
  %r = mtc.convolve_weight_gradient %a, %b groups 3 before [1] strides [2] dilations [1] : (tensor<2x6x3xf64>, tensor<2x3x6xf64>) -> tensor<6x1x3xf64>
  return %r : tensor<6x1x3xf64>
}

func.func @convolve_volume(%a: tensor<1x3x4x3x2xf64>, %b: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x3x2xf64> {
  %r = mtc.convolve %a, %b before [0, 0, 1] strides [1, 2, 1] dilations [1, 1, 1] : (tensor<1x3x4x3x2xf64>, tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x3x2xf64>
  return %r : tensor<1x2x2x3x2xf64>
}

func.func @transposed_convolve_volume(%a: tensor<1x2x2x3x2xf64>, %b: tensor<2x2x2x2x2xf64>) -> tensor<1x3x4x3x2xf64> {
  %r = mtc.transposed_convolve %a, %b before [0, 0, 1] strides [1, 2, 1] dilations [1, 1, 1] : (tensor<1x2x2x3x2xf64>, tensor<2x2x2x2x2xf64>) -> tensor<1x3x4x3x2xf64>
  return %r : tensor<1x3x4x3x2xf64>
}

func.func @convolve_weight_gradient_volume(%a: tensor<1x3x4x3x2xf64>, %b: tensor<1x2x2x3x2xf64>) -> tensor<2x2x2x2x2xf64> {
  %r = mtc.convolve_weight_gradient %a, %b before [0, 0, 1] strides [1, 2, 1] dilations [1, 1, 1] : (tensor<1x3x4x3x2xf64>, tensor<1x2x2x3x2xf64>) -> tensor<2x2x2x2x2xf64>
  return %r : tensor<2x2x2x2x2xf64>
}

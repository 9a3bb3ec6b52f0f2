// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file | FileCheck %s

// A negative amount crops; only the named axes are padded.

// CHECK: func.func @forward(%[[X:.*]]: tensor<3x5xf32>)
// CHECK: %[[C:.*]] = mtc.slice %[[X]] offsets [0, 1] strides [1, 1] : tensor<3x5xf32> -> tensor<3x4xf32>
// CHECK: mtc.pad %[[C]] low [0, 0] high [0, 2] interior [0, 0] value 1.500000e+00 : f32 : tensor<3x4xf32> -> tensor<3x6xf32>
onnx.graph @main(%x: tensor<3x5xf32>) -> tensor<3x6xf32> {
  %p = onnx.constant dense<[-1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %v = onnx.constant dense<1.5> : tensor<f32> -> tensor<f32>
  %a = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "Pad" version 21 (%x, %p, %v, %a) {} : (tensor<3x5xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<3x6xf32>
  onnx.return %y : tensor<3x6xf32>
}

// -----

// Other modes gather by index.

// CHECK: func.func @forward(%[[X:.*]]: tensor<3xf32>)
// CHECK: %[[I:.*]] = mtc.constant dense<[1, 2, 1, 0, 1, 2, 1]> : tensor<7xi64>
// CHECK: mtc.gather %[[X]], %[[I]] axis 0 batch 0
// CHECK: mtc.constant dense<[0, 0, 0, 1, 2, 2]> : tensor<6xi64>
// CHECK: mtc.constant dense<[1, 2, 0, 1, 2, 0]> : tensor<6xi64>
onnx.graph @main(%x: tensor<3xf32>) -> (tensor<7xf32>, tensor<6xf32>, tensor<6xf32>) {
  %p = onnx.constant dense<[3, 1]> : tensor<2xi64> -> tensor<2xi64>
  %q = onnx.constant dense<[2, 1]> : tensor<2xi64> -> tensor<2xi64>
  %r = onnx.node "Pad" version 21 (%x, %p) {mode = "reflect"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<7xf32>
  %e = onnx.node "Pad" version 21 (%x, %q) {mode = "edge"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<6xf32>
  %w = onnx.node "Pad" version 21 (%x, %q) {mode = "wrap"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<6xf32>
  onnx.return %r, %e, %w : tensor<7xf32>, tensor<6xf32>, tensor<6xf32>
}

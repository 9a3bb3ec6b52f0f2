// RUN: mtc-opt %s --convert-onnx-to-mtc | FileCheck %s

// Constant exponents are converted to a simpler form if there is one. Integers are converted to f64.

// CHECK: func.func @forward(%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi64>)
onnx.graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>) {
  // CHECK: mtc.mul %[[X]], %[[X]]
  %c2 = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %square = onnx.node "Pow" version 15 (%x, %c2) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

  // CHECK: %[[XX:.*]] = mtc.mul %[[X]], %[[X]]
  // CHECK: mtc.mul %[[X]], %[[XX]]
  %c3 = onnx.constant dense<3> : tensor<1xi64> -> tensor<1xi64>
  %cube = onnx.node "Pow" version 15 (%x, %c3) {} : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>

  // CHECK: mtc.sqrt %[[X]]
  %ch = onnx.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %root = onnx.node "Pow" version 15 (%x, %ch) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

  // CHECK: mtc.rsqrt %[[X]]
  %cr = onnx.constant dense<-0.5> : tensor<f32> -> tensor<f32>
  %rroot = onnx.node "Pow" version 15 (%x, %cr) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

  // CHECK: mtc.pow %[[X]], %[[Y]]
  %pow = onnx.node "Pow" version 15 (%x, %y) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

  // CHECK: %[[E:.*]] = mtc.cast %[[I]] : tensor<4xi64> -> tensor<4xf64>
  // CHECK: %[[F:.*]] = mtc.cast %[[I]] : tensor<4xi64> -> tensor<4xf64>
  // CHECK: %[[P:.*]] = mtc.pow %{{.*}}, %{{.*}} : tensor<4xf64>
  // CHECK: %[[R:.*]] = mtc.round %[[P]]
  // CHECK: mtc.cast %[[R]] : tensor<4xf64> -> tensor<4xi64>
  %ipow = onnx.node "Pow" version 15 (%i, %i) {} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>

  onnx.return %square, %cube, %root, %rroot, %pow, %ipow
    : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}

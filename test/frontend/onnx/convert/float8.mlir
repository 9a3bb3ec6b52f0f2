// Casts and quantization to 8-bit floats.
// RUN: mtc-opt %s --convert-onnx-to-mtc --split-input-file --verify-diagnostics | FileCheck %s

// Values out of range become the largest finite value by default.

// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[LOW:.*]] = mtc.constant dense<-4.480000e+02> : tensor<3xf32>
// CHECK-DAG: %[[HIGH:.*]] = mtc.constant dense<4.480000e+02> : tensor<3xf32>
// CHECK: %[[ABOVE:.*]] = mtc.compare gt %[[X:.*]], %[[HIGH]] :
// CHECK: %[[A:.*]] = mtc.select %[[ABOVE]], %[[HIGH]], %[[X]] :
// CHECK: %[[BELOW:.*]] = mtc.compare lt %[[A]], %[[LOW]] :
// CHECK: %[[B:.*]] = mtc.select %[[BELOW]], %[[LOW]], %[[A]] :
// CHECK: mtc.cast %[[B]] : tensor<3xf32> -> tensor<3xf8E4M3FN>
onnx.graph @main(%x: tensor<3xf32>) -> tensor<3xf8E4M3FN> {
  %y = onnx.node "Cast" version 19 (%x) {to = 17 : si64} : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  onnx.return %y : tensor<3xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @forward
// CHECK-NOT: mtc.compare
// CHECK: mtc.cast %{{.*}} : tensor<3xf32> -> tensor<3xf8E5M2>
onnx.graph @main(%x: tensor<3xf32>) -> tensor<3xf8E5M2> {
  %y = onnx.node "Cast" version 19 (%x) {saturate = 0 : si64, to = 19 : si64} : (tensor<3xf32>) -> tensor<3xf8E5M2>
  onnx.return %y : tensor<3xf8E5M2>
}

// -----

// Integers are compared as floats, which represent the bounds.

// CHECK-LABEL: func.func @forward
// CHECK: %[[F:.*]] = mtc.cast %{{.*}} : tensor<3xi8> -> tensor<3xf32>
// CHECK: mtc.compare gt %[[F]]
onnx.graph @main(%x: tensor<3xi8>) -> tensor<3xf8E4M3FN> {
  %y = onnx.node "Cast" version 19 (%x) {to = 17 : si64} : (tensor<3xi8>) -> tensor<3xf8E4M3FN>
  onnx.return %y : tensor<3xf8E4M3FN>
}

// -----

// A pair passes the gradient within the range: the value is detached, x - detach(x) is not.

// CHECK-LABEL: func.func @forward
// CHECK: %[[Q:.*]] = mtc.cast %{{.*}} : tensor<3xf8E4M3FN> -> tensor<3xf32>
// CHECK: %[[D:.*]] = mtc.sub %[[Q]],
// CHECK: %[[Y:.*]] = mtc.mul %[[D]],
// CHECK: %[[V:.*]] = mtc.detach %[[Y]]
// CHECK: %[[INSIDE:.*]] = mtc.detach %{{.*}} : tensor<3xi1>
// CHECK: %[[X:.*]] = mtc.detach %[[ARG:.*]] : tensor<3xf32>
// CHECK: %[[ZERO:.*]] = mtc.sub %[[ARG]], %[[X]]
// CHECK: %[[PASSED:.*]] = mtc.select %[[INSIDE]], %[[ZERO]],
// CHECK: mtc.add %[[V]], %[[PASSED]]
onnx.graph @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = onnx.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %z = onnx.constant dense<0.0> : tensor<f8E4M3FN> -> tensor<f8E4M3FN>
  %q = onnx.node "QuantizeLinear" version 19 (%x, %s, %z) {} : (tensor<3xf32>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<3xf8E4M3FN>
  %y = onnx.node "DequantizeLinear" version 19 (%q, %s, %z) {} : (tensor<3xf8E4M3FN>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<3xf32>
  onnx.return %y : tensor<3xf32>
}

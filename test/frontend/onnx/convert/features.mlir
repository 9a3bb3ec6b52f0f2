// Operators of ai.onnx.ml on features.
// RUN: mtc-opt %s --convert-onnx-to-mtc | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: %[[F:.*]] = mtc.cast %{{.*}} : tensor<4x3xi32> -> tensor<4x3xf32>
// CHECK: %[[O:.*]] = mtc.broadcast %{{.*}} axes [0] : tensor<3xf32> -> tensor<4x3xf32>
// CHECK: %[[C:.*]] = mtc.sub %[[F]], %[[O]]
// CHECK: %[[S:.*]] = mtc.mul %[[C]], %{{.*}}
// CHECK: %[[ABS:.*]] = mtc.abs %[[S]]
// CHECK: %[[SUM:.*]] = mtc.reduce add %[[ABS]] axes [1]
// CHECK: %[[ZERO:.*]] = mtc.compare eq %[[SUM]], %{{.*}}
// CHECK: %[[DIVISOR:.*]] = mtc.select %[[ZERO]], %{{.*}}, %[[SUM]]
// CHECK: %[[ROWS:.*]] = mtc.broadcast %[[DIVISOR]] axes [1]
// CHECK: %[[N:.*]] = mtc.div %[[S]], %[[ROWS]]
// CHECK: %[[NAN:.*]] = mtc.is_nan %[[N]]
// CHECK: %[[I:.*]] = mtc.select %[[NAN]], %{{.*}}, %[[N]]
// CHECK: %[[ABOVE:.*]] = mtc.compare gt %[[I]], %{{.*}}
// CHECK: %[[B:.*]] = mtc.cast %[[ABOVE]] : tensor<4x3xi1> -> tensor<4x3xf32>
// CHECK: mtc.gather %[[B]], %{{.*}} axis 1 batch 0 : tensor<4x3xf32>, tensor<2xi64> -> tensor<4x2xf32>
onnx.graph @main(%x: tensor<4x3xi32> {onnx.name = "x"}, %i: tensor<1x2xi64> {onnx.name = "i"}) -> (tensor<4x2xf32> {onnx.name = "y"}) {
  %s = onnx.node domain "ai.onnx.ml" "Scaler" version 1 (%x) {offset = array<f32: 1.0, 2.0, 3.0>, scale = array<f32: 2.0>} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %n = onnx.node domain "ai.onnx.ml" "Normalizer" version 1 (%s) {norm = "L1"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %m = onnx.node domain "ai.onnx.ml" "Imputer" version 1 (%n) {imputed_value_floats = array<f32: 1.0>, replaced_value_float = 0x7FC00000 : f32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %b = onnx.node domain "ai.onnx.ml" "Binarizer" version 1 (%m) {threshold = 0.5 : f32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = onnx.node domain "ai.onnx.ml" "ArrayFeatureExtractor" version 1 (%b, %i) {} : (tensor<4x3xf32>, tensor<1x2xi64>) -> tensor<4x2xf32>
  onnx.return %y : tensor<4x2xf32>
}

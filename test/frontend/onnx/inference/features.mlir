// Operators of ai.onnx.ml on features.
// RUN: mtc-opt %s --onnx-infer-and-fold --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: onnx.graph @types
// CHECK: "Scaler" {{.*}} -> tensor<4x3xf32>
// CHECK: "Normalizer" {{.*}} -> tensor<4x3xf32>
// CHECK: "Binarizer" {{.*}} -> tensor<4x3xi32>
// CHECK: "Imputer" {{.*}} -> tensor<4x3xf64>
// CHECK: "ArrayFeatureExtractor" {{.*}} -> tensor<4x2xf64>
// CHECK: "ArrayFeatureExtractor" {{.*}} -> tensor<1x2xi64>
onnx.graph @types(%x: tensor<4x3xi32>, %y: tensor<4x3xf64>, %v: tensor<5xi64>, %i: tensor<1x2xi64>)
    -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  %0 = onnx.node domain "ai.onnx.ml" "Scaler" version 1 (%x) {offset = array<f32: 1.0, 2.0, 3.0>, scale = array<f32: 2.0>} : (tensor<4x3xi32>) -> tensor<*xindex>
  %1 = onnx.node domain "ai.onnx.ml" "Normalizer" version 1 (%x) {norm = "L2"} : (tensor<4x3xi32>) -> tensor<*xindex>
  %2 = onnx.node domain "ai.onnx.ml" "Binarizer" version 1 (%x) {} : (tensor<4x3xi32>) -> tensor<*xindex>
  %3 = onnx.node domain "ai.onnx.ml" "Imputer" version 1 (%y) {imputed_value_floats = array<f32: 1.0>} : (tensor<4x3xf64>) -> tensor<*xindex>
  %4 = onnx.node domain "ai.onnx.ml" "ArrayFeatureExtractor" version 1 (%y, %i) {} : (tensor<4x3xf64>, tensor<1x2xi64>) -> tensor<*xindex>
  %5 = onnx.node domain "ai.onnx.ml" "ArrayFeatureExtractor" version 1 (%v, %i) {} : (tensor<5xi64>, tensor<1x2xi64>) -> tensor<*xindex>
  onnx.return %0, %1, %2, %3, %4, %5 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// -----

onnx.graph @errors(%x: tensor<4x3xf32>, %n: tensor<4x3xi64>)
    -> (tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>) {
  // expected-error @below {{Scaler version 1: attribute offset has 2 numbers, expected 1 or 3, the number of features}}
  %0 = onnx.node domain "ai.onnx.ml" "Scaler" version 1 (%x) {offset = array<f32: 1.0, 2.0>} : (tensor<4x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Normalizer version 1: attribute norm = "L3", expected one of MAX, L1, L2}}
  %1 = onnx.node domain "ai.onnx.ml" "Normalizer" version 1 (%x) {norm = "L3"} : (tensor<4x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Imputer version 1: attribute imputed_value_floats has 0 numbers, expected 1 or 3}}
  %2 = onnx.node domain "ai.onnx.ml" "Imputer" version 1 (%x) {} : (tensor<4x3xf32>) -> tensor<*xindex>
  // expected-error @below {{Imputer version 1: operand 0 (X) has element type i64, expected a floating-point type}}
  %3 = onnx.node domain "ai.onnx.ml" "Imputer" version 1 (%n) {imputed_value_int64s = array<i64: 1>} : (tensor<4x3xi64>) -> tensor<*xindex>
  onnx.return %0, %1, %2, %3 : tensor<*xindex>, tensor<*xindex>, tensor<*xindex>, tensor<*xindex>
}

// The causal part of an attention operation's mask is recognized.
// RUN: mtc-opt %s -mtc-forward-pipeline | FileCheck %s
// Values do not change.
// RUN: mtc-opt %s -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope > %t.before
// RUN: mtc-opt %s -mtc-forward-pipeline -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope > %t.after
// RUN: %python %support/same_values.py %t.before %t.after

// CHECK-LABEL: func.func @causal_and_padding(
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<2x1x1x3xi1>)
// CHECK-SAME: mtc.attention = #mtc.attention_report<fused = 1, decomposed = []>
// CHECK-NEXT: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[K]] causal 0 scale 1.000000e+00
func.func @causal_and_padding(%q: tensor<2x4x3x8xf64>, %k: tensor<2x4x3x8xf64>, %v: tensor<2x4x3x8xf64>, %keep: tensor<2x1x1x3xi1>) -> tensor<2x4x3x8xf64> {
  %i = mtc.iota 0 : tensor<3x3xi64>
  %j = mtc.iota 1 : tensor<3x3xi64>
  %c = mtc.compare le %j, %i : tensor<3x3xi64> -> tensor<3x3xi1>
  %cc = mtc.broadcast %c axes [0, 1] : tensor<3x3xi1> -> tensor<2x1x3x3xi1>
  %kept = mtc.reshape %keep : tensor<2x1x1x3xi1> -> tensor<2x1x3xi1>
  %every = mtc.broadcast %kept axes [2] : tensor<2x1x3xi1> -> tensor<2x1x3x3xi1>
  %m = mtc.and %cc, %every : tensor<2x1x3x3xi1>
  %y, %sums = mtc.attention %q, %k, %v mask %m scale 1.000000e+00
    : (tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x1x3x3xi1>) -> (tensor<2x4x3x8xf64>, tensor<2x4x3xf64>)
  return %y : tensor<2x4x3x8xf64>
}

// Causal attention stays causal; a mask with one row for all queries is not causal.
// CHECK-LABEL: func.func @keys_of_all_queries(
// CHECK: %[[M:.*]] = mtc.constant dense<{{.*}}[true, true, false]{{.*}}> : tensor<1x1x1x3xi1>
// CHECK-NEXT: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] causal 1 scale 1.000000e+00
func.func @keys_of_all_queries(%q: tensor<2x4x3x8xf64>, %k: tensor<2x4x3x8xf64>, %v: tensor<2x4x3x8xf64>) -> tensor<2x4x3x8xf64> {
  %m = mtc.constant dense<[[[[true, true, false]]]]> : tensor<1x1x1x3xi1>
  %y, %sums = mtc.attention %q, %k, %v mask %m causal 1 scale 1.000000e+00
    : (tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<2x4x3x8xf64>, tensor<1x1x1x3xi1>) -> (tensor<2x4x3x8xf64>, tensor<2x4x3xf64>)
  return %y : tensor<2x4x3x8xf64>
}

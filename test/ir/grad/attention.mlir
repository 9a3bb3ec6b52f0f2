// Attention's gradient is one operation, which recomputes the scores; a bias gets its gradient from the decomposed form.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose=library-calls -canonicalize -cse -mtc-form-kernels -mlir-print-local-scope \
// RUN:   | %python %support/interpret.py %s

// CHECK-LABEL: func.func @plain_vjp
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x2xf64>, %[[K:.*]]: tensor<1x2x4x2xf64>, %[[V:.*]]: tensor<1x2x4x3xf64>, %[[D:.*]]: tensor<1x2x3x3xf64>)
// CHECK: %[[O:.*]], %[[S:.*]] = mtc.attention %[[Q]], %[[K]], %[[V]] scale 3.700000e-01
// CHECK: %[[P:.*]] = mtc.mul %[[O]], %[[D]]
// CHECK: %[[R:.*]] = mtc.reduce add %[[P]] axes [3]
// CHECK: mtc.attention_gradient %[[Q]], %[[K]], %[[V]] scale 3.700000e-01 of %[[S]], %[[R]], %[[D]]
func.func @plain(%q: tensor<1x2x3x2xf64>, %k: tensor<1x2x4x2xf64>, %v: tensor<1x2x4x3xf64>) -> tensor<1x2x3x3xf64> {
  %o, %s = mtc.attention %q, %k, %v scale 0.37
    : (tensor<1x2x3x2xf64>, tensor<1x2x4x2xf64>, tensor<1x2x4x3xf64>) -> (tensor<1x2x3x3xf64>, tensor<1x2x3xf64>)
  return %o : tensor<1x2x3x3xf64>
}

// Two query heads share each head of keys and values; the sums have a cotangent too.
func.func @grouped(%q: tensor<2x4x3x2xf64>, %k: tensor<2x2x3x2xf64>, %v: tensor<2x2x3x2xf64>)
    -> (tensor<2x4x3x2xf64>, tensor<2x4x3xf64>) {
  %o, %s = mtc.attention %q, %k, %v causal 0 scale 0.7
    : (tensor<2x4x3x2xf64>, tensor<2x2x3x2xf64>, tensor<2x2x3x2xf64>) -> (tensor<2x4x3x2xf64>, tensor<2x4x3xf64>)
  return %o, %s : tensor<2x4x3x2xf64>, tensor<2x4x3xf64>
}

// The bias is broadcast over heads and queries.
func.func @bias(%q: tensor<2x2x3x2xf64>, %k: tensor<2x2x3x2xf64>, %v: tensor<2x2x3x2xf64>, %b: tensor<2x1x1x3xf64>)
    -> tensor<2x2x3x2xf64> {
  %o, %s = mtc.attention %q, %k, %v bias %b scale 0.7
    : (tensor<2x2x3x2xf64>, tensor<2x2x3x2xf64>, tensor<2x2x3x2xf64>, tensor<2x1x1x3xf64>)
      -> (tensor<2x2x3x2xf64>, tensor<2x2x3xf64>)
  return %o : tensor<2x2x3x2xf64>
}

// The results for a row without any key are zeros, not NaN.
func.func @empty_row(%q: tensor<1x1x3x2xf64>, %k: tensor<1x1x3x2xf64>, %v: tensor<1x1x3x2xf64>, %m: tensor<1x1x3x3xi1>)
    -> tensor<1x1x3x2xf64> {
  %o, %s = mtc.attention %q, %k, %v mask %m scale 0.7
    : (tensor<1x1x3x2xf64>, tensor<1x1x3x2xf64>, tensor<1x1x3x2xf64>, tensor<1x1x3x3xi1>)
      -> (tensor<1x1x3x2xf64>, tensor<1x1x3xf64>)
  return %o : tensor<1x1x3x2xf64>
}
// given @empty_row a3 = [[[[1, 0, 1], [0, 0, 0], [0, 1, 1]]]]

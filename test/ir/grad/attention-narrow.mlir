// With 16-bit elements, sums and offsets are f32, and the gradient uses the result too.
// RUN: mtc-opt %s -mtc-test-gradient -canonicalize -cse | FileCheck %s
// RUN: mtc-opt %s -mtc-test-gradient -mtc-decompose=library-calls -canonicalize -cse | FileCheck %s --check-prefix=PARTS

// CHECK-LABEL: func.func @plain_vjp
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x8xbf16>, %[[K:.*]]: tensor<1x2x4x8xbf16>, %[[V:.*]]: tensor<1x2x4x8xbf16>, %[[D:.*]]: tensor<1x2x3x8xbf16>)
// CHECK: %[[O:.*]], %[[S:.*]] = mtc.attention %[[Q]], %[[K]], %[[V]] scale 3.700000e-01 : {{.*}} -> (tensor<1x2x3x8xbf16>, tensor<1x2x3xf32>)
// CHECK-DAG: %[[OW:.*]] = mtc.cast %[[O]] : tensor<1x2x3x8xbf16> -> tensor<1x2x3x8xf32>
// CHECK-DAG: %[[DW:.*]] = mtc.cast %[[D]] : tensor<1x2x3x8xbf16> -> tensor<1x2x3x8xf32>
// CHECK: %[[P:.*]] = mtc.mul %[[OW]], %[[DW]]
// CHECK: %[[R:.*]] = mtc.reduce add %[[P]] axes [3] : tensor<1x2x3x8xf32> -> tensor<1x2x3xf32>
// CHECK: mtc.attention_gradient %[[Q]], %[[K]], %[[V]] scale 3.700000e-01 of %[[S]], %[[R]], %[[D]] out %[[O]]

// In decomposed form, values between two contractions are f32, and the operands of contractions have 16 bits.
// PARTS-LABEL: func.func @plain_vjp
// PARTS: mtc.exp {{.*}} : tensor<1x2x3x4xf32>
// PARTS: mtc.contract {{.*}} : tensor<1x2x1x3x4xbf16>, tensor<1x2x4x8xbf16> -> tensor<1x2x1x3x8xbf16>
// PARTS-NOT: mtc.attention
func.func @plain(%q: tensor<1x2x3x8xbf16>, %k: tensor<1x2x4x8xbf16>, %v: tensor<1x2x4x8xbf16>) -> tensor<1x2x3x8xbf16> {
  %o, %s = mtc.attention %q, %k, %v scale 0.37
    : (tensor<1x2x3x8xbf16>, tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>) -> (tensor<1x2x3x8xbf16>, tensor<1x2x3xf32>)
  return %o : tensor<1x2x3x8xbf16>
}

// If the logsumexp has a cotangent, the offsets differ from out . d_out.
// CHECK-LABEL: func.func @sums_vjp
// CHECK: mtc.attention_gradient
// CHECK-NOT: out %
// CHECK: return
func.func @sums(%q: tensor<1x2x3x8xbf16>, %k: tensor<1x2x4x8xbf16>, %v: tensor<1x2x4x8xbf16>)
    -> (tensor<1x2x3x8xbf16>, tensor<1x2x3xf32>) {
  %o, %s = mtc.attention %q, %k, %v scale 0.37
    : (tensor<1x2x3x8xbf16>, tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>) -> (tensor<1x2x3x8xbf16>, tensor<1x2x3xf32>)
  return %o, %s : tensor<1x2x3x8xbf16>, tensor<1x2x3xf32>
}

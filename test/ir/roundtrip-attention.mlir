// RUN: mtc-opt %s | mtc-opt | FileCheck %s

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x8x16xf32>, %b: tensor<1x4x8x8xf32>, %m: tensor<2x1x1x8xi1>)
    -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) {
  // CHECK: mtc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} mask %{{.*}} causal 0 scale 1.250000e-01 : (
  %o, %s = mtc.attention %q, %k, %k bias %b mask %m causal 0 scale 0.125
    : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<1x4x8x8xf32>, tensor<2x1x1x8xi1>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  // CHECK: mtc.attention_gradient %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 1.250000e-01 of %{{.*}}, %{{.*}}, %{{.*}} : (
  %dq, %dk, %dv = mtc.attention_gradient %q, %k, %k mask %m scale 0.125 of %s, %s, %o
    : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x1x1x8xi1>, tensor<2x4x8xf32>,
       tensor<2x4x8xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>)
  return %o, %dq, %dk, %dv : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>
}

// Elements have 16 bits, and sums are f32.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%q: tensor<2x4x8x16xbf16>) -> (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>) {
  // CHECK: mtc.attention %{{.*}} -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>)
  %o, %s = mtc.attention %q, %q, %q causal 0 scale 0.125
    : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>) -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>)
  // CHECK: mtc.attention_gradient %{{.*}} of %{{.*}}, %{{.*}}, %{{.*}} out %{{.*}} : (
  %dq, %dk, %dv = mtc.attention_gradient %q, %q, %q causal 0 scale 0.125 of %s, %s, %q out %o
    : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>, tensor<2x4x8xf32>,
       tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>)
      -> (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>)
  return %dq, %dk, %dv : tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>
}

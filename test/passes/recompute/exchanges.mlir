// Exchanges of computed values among ranks are repeated, too: every rank recomputes the same values. Gathers of parameters are repeated as in
// gathers.mlir.
//
// RUN: mtc-opt %s --mtc-recompute=recompute=all | FileCheck %s

// CHECK-LABEL: func.func @exchange
// CHECK: %[[A:.*]] = mtc.all_gather %{{.*}} ranks 2 : tensor<128xf32> -> tensor<4x64xf32>
// CHECK: mtc.contract %[[A]], %arg1
// CHECK: %[[AGAIN:.*]] = mtc.all_gather %{{.*}} ranks 2 {mtc.recomputed} : tensor<128xf32> -> tensor<4x64xf32>
// CHECK-NEXT: %[[H:.*]] = mtc.contract %[[AGAIN]], %arg1 {{.*}} {mtc.recomputed}
// CHECK-NEXT: mtc.contract %{{.*}}, %[[H]]
func.func @exchange(%x: tensor<2x64xf32> {mtc.name = "x"}, %v: tensor<4x64xf32> {mtc.name = "v"})
    -> (tensor<4x64xf32> {mtc.name = "y"}, tensor<4x64xf32> {mtc.name = "z"}) {
  %part = mtc.reshape %x : tensor<2x64xf32> -> tensor<128xf32>
  %g = mtc.all_gather %part ranks 2 : tensor<128xf32> -> tensor<4x64xf32>
  %h = mtc.contract %g, %v batch [] x [] over [0] x [0] : tensor<4x64xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %s = mtc.contract %h, %h batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t = mtc.contract %s, %v batch [] x [] over [0] x [1] : tensor<64x64xf32>, tensor<4x64xf32> -> tensor<64x4xf32>
  %large = mtc.contract %t, %v batch [] x [] over [1] x [0] : tensor<64x4xf32>, tensor<4x64xf32> -> tensor<64x64xf32>
  %larger = mtc.contract %large, %large batch [] x [] over [0] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = mtc.contract %v, %larger batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  %z = mtc.contract %y, %h batch [] x [] over [1] x [0] : tensor<4x64xf32>, tensor<64x64xf32> -> tensor<4x64xf32>
  return %y, %z : tensor<4x64xf32>, tensor<4x64xf32>
}

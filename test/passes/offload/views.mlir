// One user reads views of two offloaded values. If copies do not overlap with other work, each value is fetched before its view.
//
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=activations offload-budget=1})' | FileCheck %s

// CHECK-DAG: %[[A:.*]] = mtc.move %{{.*}} to {{ *}}device : tensor<64x64xf32>
// CHECK-DAG: %[[B:.*]] = mtc.move %{{.*}} to {{ *}}device : tensor<64x64xf32>
// CHECK-DAG: mtc.reshape %[[A]]
// CHECK-DAG: mtc.reshape %[[B]]
// CHECK: mtc.contract {{.*}} tensor<32x128xf32>
module {
  func.func @micro_step(%x: tensor<64x64xf32> {mtc.name = "x"}, %w: tensor<64x64xf32> {mtc.name = "w"}) -> (tensor<32x32xf32> {mtc.name = "y"}, tensor<64x64xf32> {mtc.name = "z"}) {
    %a = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %b = mtc.contract %w, %x batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = mtc.contract %w, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %d = mtc.contract %c, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %e = mtc.contract %d, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %va = mtc.reshape %a : tensor<64x64xf32> -> tensor<32x128xf32>
    %vb = mtc.reshape %b : tensor<64x64xf32> -> tensor<32x128xf32>
    %y = mtc.contract %va, %vb batch [] x [] over [1] x [1] : tensor<32x128xf32>, tensor<32x128xf32> -> tensor<32x32xf32>
    return %y, %e : tensor<32x32xf32>, tensor<64x64xf32>
  }
}

// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=activations offload-budget=65536})' | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{recompute=none tile=none offload=auto memory=65536})' | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=activations offload-budget=81920})' | FileCheck %s --check-prefix=FITS
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-fit{recompute=none tile=none memory=65536 minimize-if-missed=false})' | FileCheck %s --check-prefix=FITS
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=none offload-budget=65536})' | FileCheck %s --check-prefix=FITS
// FITS-NOT: mtc.move

// Only the last kernel uses the result of the first contraction. Offloading the result frees memory for the two values that are live at
// each kernel between.
// CHECK: %[[A:.*]] = mtc.contract
// CHECK-NEXT: %[[AWAY:.*]] = mtc.move %[[A]] to {{ *}}disk : tensor<64x64xf32>
// CHECK-COUNT-3: mtc.contract
// CHECK-NEXT: %[[BACK:.*]] = mtc.move %[[AWAY]] to {{ *}}device : tensor<64x64xf32>
// CHECK-NEXT: mtc.kernel [64, 64](%[[BACK]]
module {
  func.func @micro_step(%x: tensor<64x64xf32> {mtc.name = "x"}, %w: tensor<64x64xf32> {mtc.name = "w"}) -> (tensor<64x64xf32> {mtc.name = "y"}) {
    %a = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %b = mtc.contract %w, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = mtc.contract %b, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %d = mtc.contract %c, %w batch [] x [] over [1] x [1] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %y = mtc.mul %a, %d : tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

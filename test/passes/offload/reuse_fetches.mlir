// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=parameters},mtc-reuse-fetches)' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=parameters},mtc-reuse-fetches,mtc-allocate)' | FileCheck %s --check-prefix=WINDOWS

// The update reads the copy that was fetched for the contraction: its windows are copied only to the disk.
// CHECK: %[[P:.*]] = mtc.read @p
// CHECK: %[[HERE:.*]] = mtc.move %[[P]] to device
// CHECK-NEXT: mtc.contract %{{.*}}, %[[HERE]]
// CHECK-NEXT: mtc.kernel [128, 128](%[[HERE]], %{{.*}})
// WINDOWS-LABEL: mtc.step @micro_step
// WINDOWS-NEXT: mtc.copy <0, tensor<128x128xf32>, disk> into <[[HERE:[0-9]+]], tensor<128x128xf32>>
// WINDOWS-NEXT: mtc.call
// WINDOWS-NEXT: mtc.launch @kernel_0 [#mtc.at<[[HERE]], {{.*}}>, {{.*}}]
// WINDOWS-NEXT: mtc.copy <{{.*}}, tensor<128x128xf32>> into <0, tensor<128x128xf32>, disk>
// WINDOWS-NEXT: }
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %p = mtc.read @p : tensor<128x128xf32>
    %g = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %sum = mtc.mul %p, %g : tensor<128x128xf32>
    mtc.write @p, %sum : tensor<128x128xf32>
    return
  }
}

// -----

// The peak is between the contraction and the update. The copy is not live there.
// CHECK: %[[P:.*]] = mtc.read @p
// CHECK: %[[HERE:.*]] = mtc.move %[[P]] to device
// CHECK: mtc.kernel [128, 128](%[[P]], %{{.*}}, %{{.*}})
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %p = mtc.read @p : tensor<128x128xf32>
    %g = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %a = mtc.cumulative_sum %g axis 0 : tensor<128x128xf32>
    %b = mtc.cumulative_sum %a axis 1 : tensor<128x128xf32>
    %c = mtc.contract %a, %b batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %d = mtc.add %c, %g : tensor<128x128xf32>
    %sum = mtc.mul %p, %d : tensor<128x128xf32>
    mtc.write @p, %sum : tensor<128x128xf32>
    return
  }
}

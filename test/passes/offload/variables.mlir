// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=optimizer})' | FileCheck %s
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=parameters})' | FileCheck %s --check-prefix=PARAMETERS
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=none})' | FileCheck %s --check-prefix=NONE
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=gradients})' | FileCheck %s --check-prefix=GRADIENTS
// NONE-NOT: disk
// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=optimizer})' 2>&1 >/dev/null | FileCheck %s --check-prefix=WINDOWS
// WINDOWS: warning: --offload: frees 65536 bytes, but the copy windows need 262144; use an --offload-window smaller than 8388608 to need less memory

// State is offloaded if kernels can update it in windows. Small variables are not offloaded. A parameter is fetched for its contraction,
// and updated in windows.
// CHECK: mtc.transfer_slots 4 size 65536
// CHECK: mtc.variable {{ *}}parameter @p : tensor
// CHECK: mtc.variable {{ *}}optimizer @m in {{ *}}disk : tensor<128x128xf32>
// CHECK: mtc.variable {{ *}}optimizer @small : tensor
// CHECK-NOT: mtc.move
// PARAMETERS: mtc.variable {{ *}}parameter @p in {{ *}}disk : tensor
// PARAMETERS: mtc.variable {{ *}}optimizer @m : tensor
// PARAMETERS: %[[P:.*]] = mtc.read @p
// PARAMETERS: %[[HERE:.*]] = mtc.move %[[P]] to device
// PARAMETERS-NEXT: mtc.contract %{{.*}}, %[[HERE]]
// PARAMETERS: mtc.kernel [128, 128](%{{.*}}, %[[P]])
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  mtc.variable optimizer @m : tensor<128x128xf32> = #mtc.zeros of @p
  mtc.variable optimizer @small : tensor<128xf32> = #mtc.zeros
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %p = mtc.read @p : tensor<128x128xf32>
    %m = mtc.read @m : tensor<128x128xf32>
    %small = mtc.read @small : tensor<128xf32>
    %g = mtc.contract %x, %p batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %new = mtc.mul %m, %g : tensor<128x128xf32>
    %sum = mtc.add %p, %new : tensor<128x128xf32>
    %twice = mtc.add %small, %small : tensor<128xf32>
    mtc.write @m, %new : tensor<128x128xf32>
    mtc.write @p, %sum : tensor<128x128xf32>
    mtc.write @small, %twice : tensor<128xf32>
    return
  }
}

// -----

// State that a library call or an unsplittable kernel reads is fetched and copied back as a whole.
// CHECK-NOT: mtc.transfer_slots
// CHECK: mtc.variable {{ *}}optimizer @m in {{ *}}disk
// CHECK: %[[M:.*]] = mtc.read @m
// CHECK: %[[HERE:.*]] = mtc.move %[[M]] to device
// CHECK-NEXT: %[[NEW:.*]] = mtc.contract %{{.*}}, %[[HERE]]
// CHECK: %[[AWAY:.*]] = mtc.move %[[NEW]] to disk
// CHECK-NEXT: mtc.write @m, %[[AWAY]]
module {
  mtc.variable optimizer @m : tensor<128x128xf32> = #mtc.zeros
  func.func @update(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %m = mtc.read @m : tensor<128x128xf32>
    %new = mtc.contract %x, %m batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    mtc.write @m, %new : tensor<128x128xf32>
    return
  }
}

// -----

// A gradient that a library call accumulates in place is fetched before the call and copied back after it.
// GRADIENTS: mtc.variable {{ *}}gradient @g in {{ *}}disk
// GRADIENTS: %[[G:.*]] = mtc.read @g
// GRADIENTS-NEXT: %[[HERE:.*]] = mtc.move %[[G]] to {{ *}}device
// GRADIENTS-NEXT: %[[NEW:.*]] = mtc.fused_contract {{.*}}%[[HERE]]
// GRADIENTS: %[[AWAY:.*]] = mtc.move %[[NEW]] to {{ *}}disk
// GRADIENTS-NEXT: mtc.write @g, %[[AWAY]]
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  mtc.variable gradient @g : tensor<128x128xf32> = #mtc.zeros of @p
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %g = mtc.read @g : tensor<128x128xf32>
    %c = mtc.contract %x, %x batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %new = mtc.add %g, %c : tensor<128x128xf32>
    mtc.write @g, %new : tensor<128x128xf32>
    return
  }
}

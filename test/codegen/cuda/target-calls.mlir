// RUN: mtc-opt %s -split-input-file --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_90},mtc-decompose)' | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: mtc-opt %s -split-input-file --mtc-decompose | FileCheck %s --check-prefixes=CHECK,NONE

// The device's tiles support heads of at most 128 elements; without a target, no library is known to be missing.
// CHECK-LABEL: func.func @narrow
// CHECK: mtc.attention
func.func @narrow(%q: tensor<2x4x8x128xf32>) -> tensor<2x4x8x128xf32> {
  %o, %s = mtc.attention %q, %q, %q scale 1.0
    : (tensor<2x4x8x128xf32>, tensor<2x4x8x128xf32>, tensor<2x4x8x128xf32>) -> (tensor<2x4x8x128xf32>, tensor<2x4x8xf32>)
  return %o : tensor<2x4x8x128xf32>
}

// -----

// CHECK-LABEL: func.func @wide
// CUDA-COUNT-2: mtc.contract
// CUDA-NOT: mtc.attention
// NONE: mtc.attention
func.func @wide(%q: tensor<2x4x8x160xf32>) -> tensor<2x4x8x160xf32> {
  %o, %s = mtc.attention %q, %q, %q scale 1.0
    : (tensor<2x4x8x160xf32>, tensor<2x4x8x160xf32>, tensor<2x4x8x160xf32>) -> (tensor<2x4x8x160xf32>, tensor<2x4x8xf32>)
  return %o : tensor<2x4x8x160xf32>
}

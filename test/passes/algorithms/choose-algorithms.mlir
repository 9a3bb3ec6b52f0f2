// RUN: rm -rf %t
// RUN: env MTC_CACHE_DIR=%t mtc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(mtc-choose-algorithms))" | FileCheck %s
// Without measurements, nothing changes. A measurement is stored.
// RUN: not ls %t
// RUN: sed -e 's/tune = "off"/tune = "full"/' %s > %t.tuned.mlir
// RUN: env MTC_CACHE_DIR=%t mtc-opt %t.tuned.mlir -split-input-file -pass-pipeline="builtin.module(func.func(mtc-choose-algorithms))"
// RUN: ls %t | FileCheck %s --check-prefix=STORED
// STORED: llvmcache-

// Small contractions are not measured, and a choice for an earlier shape is removed.
module attributes {mtc.target = #mtc_cpu.target<threads = 2>} {
  // CHECK-LABEL: func @small
  // CHECK: mtc.contract
  // CHECK-NOT: mtc.algorithm
  func.func @small(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] {mtc.algorithm = #mtc<call_algorithm own_panels>} : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
    return %p : tensor<64x16xf32>
  }
}

// -----

// Contractions of programs for other machines, or with --tune off, are not measured either.
module attributes {mtc.target = #mtc_cpu.target<threads = 2, tune = "off">} {
  // CHECK-LABEL: func @off
  // CHECK-NOT: mtc.algorithm
  func.func @off(%x: tensor<1024x768xf32>, %w: tensor<768x768xf32>) -> tensor<1024x768xf32> {
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x768xf32>, tensor<768x768xf32> -> tensor<1024x768xf32>
    return %p : tensor<1024x768xf32>
  }
}

// -----

module attributes {mtc.target = #mtc_cpu.target<threads = 2, rates = "avx2", tune = "full">} {
  // CHECK-LABEL: func @others
  // CHECK-NOT: mtc.algorithm
  func.func @others(%x: tensor<1024x768xf32>, %w: tensor<768x768xf32>) -> tensor<1024x768xf32> {
    %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<1024x768xf32>, tensor<768x768xf32> -> tensor<1024x768xf32>
    return %p : tensor<1024x768xf32>
  }
}

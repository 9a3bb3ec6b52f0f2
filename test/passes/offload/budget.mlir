// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=optimizer offload-window=4096})' | FileCheck %s --check-prefix=ALL
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=optimizer offload-window=4096 offload-budget=500000})' | FileCheck %s --check-prefix=SOME
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-variables{offload=optimizer offload-window=4096 offload-budget=540000})' | FileCheck %s --check-prefix=NONE
// NONE-NOT: disk

// With a budget, only as much is offloaded as required. Variables with early updates come first: the rest of the step overlaps with their copies.
// ALL: @late in {{ *}}disk
// ALL: @early in {{ *}}disk
// SOME: optimizer @late : tensor
// SOME: optimizer @early in {{ *}}disk
module {
  mtc.variable parameter @p : tensor<128x128xf32> = #mtc.zeros
  mtc.variable parameter @q : tensor<128x128xf32> = #mtc.zeros
  mtc.variable optimizer @late : tensor<128x128xf32> = #mtc.zeros of @p
  mtc.variable optimizer @early : tensor<128x128xf32> = #mtc.zeros of @q
  func.func @micro_step(%x: tensor<128x128xf32> {mtc.name = "x"}) {
    %p = mtc.read @p : tensor<128x128xf32>
    %q = mtc.read @q : tensor<128x128xf32>
    %early = mtc.read @early : tensor<128x128xf32>
    %late = mtc.read @late : tensor<128x128xf32>
    %g = mtc.contract %x, %q batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %new_early = mtc.mul %early, %g : tensor<128x128xf32>
    mtc.write @early, %new_early : tensor<128x128xf32>
    %h = mtc.contract %g, %p batch [] x [] over [1] x [1] : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    %new_late = mtc.mul %late, %h : tensor<128x128xf32>
    mtc.write @late, %new_late : tensor<128x128xf32>
    return
  }
}

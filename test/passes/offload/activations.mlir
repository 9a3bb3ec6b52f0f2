// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=activations offload-budget=131072})' | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-kernel-pipeline,mtc-offload-activations{offload=activations offload-budget=1048576})' | FileCheck %s --check-prefix=FITS
// FITS-NOT: mtc.move

// The first value is read by the last product alone, which is behind the peak.
// CHECK: %[[A:.*]] = mtc.cumulative_sum

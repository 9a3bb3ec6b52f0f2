// Libraries compute recurrent layers on both targets. Without a library, the layers are decomposed into at most 512 steps.
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{cpu=host threads=2},mtc-decompose)' | FileCheck %s
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-attach-target{target=cuda:sm_90},mtc-decompose)' | FileCheck %s
// RUN: not mtc-opt %s --mtc-decompose=library-calls 2>&1 | FileCheck %s --check-prefix=LIMIT

// CHECK: mtc.recurrence tanh
// LIMIT: has 513 steps, expected at most 512 where recurrent layers are unrolled (by mtc grad, and where no library computes them); use shorter sequences
func.func @f(%x: tensor<513x1x1xf32>, %r: tensor<1x1xf32>, %h: tensor<1x1xf32>) -> tensor<513x1x1xf32> {
  %a, %y = mtc.recurrence tanh %x, %r from %h
    : (tensor<513x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<513x1x1xf32>, tensor<513x1x1xf32>)
  return %y : tensor<513x1x1xf32>
}

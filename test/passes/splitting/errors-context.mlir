// RUN: not mtc-opt %s -mtc-split-axes 2>&1 | FileCheck %s

// CHECK: error: --context 2: contractions cannot be divided into 2 parts along any axis of an input but that of the batch: axis 1 of 'x' has 15 elements, axis 2 of 'x' has 15 elements; expected a multiple of 2
mtc.program "odd" stage training batch 8 ranks <count = 2, context_ranks = 2> {
  mtc.input "x"
}
mtc.variable parameter @w : tensor<15x15xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<8x15x15xf32> {mtc.name = "x"}) -> tensor<8x15x15xf32> {
  %w = mtc.read @w : tensor<15x15xf32>
  %y = mtc.contract %x, %w batch [] x [] over [2] x [0] : tensor<8x15x15xf32>, tensor<15x15xf32> -> tensor<8x15x15xf32>
  return %y : tensor<8x15x15xf32>
}
